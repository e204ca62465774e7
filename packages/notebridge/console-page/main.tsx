import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { HubState } from './hub-state.js';
import { useHub } from './parts.js';
import { enter, leave } from './session.js';
import { OneCall } from './views/call.js';
import { Calls } from './views/calls.js';
import { Connect } from './views/connect.js';
import { Grants } from './views/grants.js';
import { Overview } from './views/overview.js';
import { OneServer, Servers } from './views/servers.js';
import { TryOut } from './views/try-out.js';

const views = [
  ['', 'Overview'],
  ['calls', 'Calls'],
  ['servers', 'Servers'],
  ['try', 'Try out'],
  ['grants', 'Grants'],
  ['connect', 'Connect'],
] as const;

const connections = { opening: 'Connecting …', live: 'Live', lost: 'The hub does not answer; this is what it said last' };

interface Place {
  view: string;
  parts: readonly string[];
  query: URLSearchParams;
}

/** Where the address says that we are: `#servers/github`, `#calls?outcome=failed`. */
function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.slice(1).split('?');
  const [view = '', ...parts] = path.split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { view, parts, query: new URLSearchParams(query) };
}

function App({ hub }: { hub: HubState }) {
  useHub(hub);
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const follow = (): void => {
      setPlace(placeOf(location.hash));
      document.querySelector('h1')?.focus();
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const title = views.find(([name]) => name === place.view)?.[1] ?? 'Overview';
  useEffect(() => {
    document.title = `${title} – Notebridge`;
  }, [title]);
  return (
    <>
      <header class="bar">
        <img src="/console/icon.svg" alt="" width="20" height="20" />
        <p class="product">Notebridge</p>
        <nav class="views" aria-label="Views">
          {views.map(([name, label]) => (
            <a key={name} href={`#${name}`} aria-current={label === title ? 'page' : undefined}>
              {label}
              {name === '' && hub.approvals.length > 0 ? <span class="badge">{hub.approvals.length} waiting</span> : null}
            </a>
          ))}
        </nav>
        <p class="live" role="status" data-state={hub.connection}>
          {connections[hub.connection]}
        </p>
        <button type="button" onClick={() => void leave().then(() => location.reload())}>
          Sign out
        </button>
      </header>
      <main data-state={hub.connection}>
        <h1 tabIndex={-1}>{title}</h1>
        {hub.signedOut === undefined ? <View hub={hub} place={place} /> : <p class="notice">{hub.signedOut}</p>}
      </main>
    </>
  );
}

function View({ hub, place: { view, parts, query } }: { hub: HubState; place: Place }) {
  const [first, second] = parts;
  switch (view) {
    case 'calls':
      return first === undefined ? <Calls key={query.toString()} hub={hub} query={query} /> : <OneCall key={first} hub={hub} id={first} />;
    case 'servers':
      return first === undefined ? <Servers hub={hub} /> : <OneServer key={first} hub={hub} name={first} />;
    case 'try':
      return <TryOut hub={hub} server={first} tool={second} />;
    case 'grants':
      return <Grants hub={hub} />;
    case 'connect':
      return <Connect />;
    default:
      return <Overview hub={hub} />;
  }
}

function SignedOut({ why }: { why: string }) {
  return (
    <main>
      <h1>Console</h1>
      <p class="notice">{why}</p>
    </main>
  );
}

const root = document.getElementById('console');
if (root !== null) {
  const why = await enter();
  const hub = new HubState();
  if (why !== undefined) render(<SignedOut why={why} />, root);
  else {
    render(<App hub={hub} />, root);
    void hub.follow();
  }
}
