#!/usr/bin/env node
// Stands where the person's browser command stands (BROWSER): hands the URL that it is asked to open to the example that waits
// for it, which opens it in the browser of its choice.
import { connect } from 'node:net';

const [url = ''] = process.argv.slice(2);
connect(Number(process.env.NOTEBRIDGE_EXAMPLE_PORT), '127.0.0.1').end(url);
