/**
 * Imported first. Node opens its debugger for this signal, from any sender; with a listener it does not. Node 22 and later
 * have `--disable-sigusr1` besides, which closes the time before this line too.
 */
process.on('SIGUSR1', () => {});
