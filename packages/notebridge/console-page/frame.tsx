import { useState } from 'preact/hooks';
import { oneLine } from './format.js';
import { Later } from './later.js';
import type { LiveHub } from './live-hub.js';
import { State, useHub } from './parts.js';
import { hrefOf, type Route, views, viewsOfWatchers } from './route.js';
import { leave } from './session.js';
import { Calls } from './views/calls.js';
import { OneCall } from './views/one-call.js';
import { OneServer } from './views/one-server.js';
import { Overview } from './views/overview.js';
import { Servers } from './views/servers.js';

/** The menu beside the view that is open. */
export function Frame({ hub, route }: { hub: LiveHub; route: Route }) {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to the content
      </button>
      <header class="side">
        <p class="brand">
          <img src="/console/icon.svg" alt="" width="22" height="22" /> Notebridge
        </p>
        <Which hub={hub} />
        <Menu hub={hub} route={route} />
        <Connection hub={hub} />
      </header>
      <main>
        <Lost hub={hub} />
        <Opened hub={hub} route={route} />
      </main>
    </>
  );
}

/** Of several hubs, whose page this is. */
function Which({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const name = hub.told.report?.cluster?.hubs.find(({ is_this: isThis }) => isThis)?.name;
  return name === undefined ? null : <p class="which soft">Hub {oneLine(name)}</p>;
}

function Menu({ hub, route }: { hub: LiveHub; route: Route }) {
  useHub(hub);
  const { isOwner, told } = hub;
  const waiting = isOwner ? told.approvals.length : (told.report?.approvals ?? 0);
  const cluster = told.report?.cluster;
  const shown = views.filter(([name]) => (isOwner || viewsOfWatchers.includes(name)) && (name !== 'hubs' || cluster !== undefined));
  return (
    <nav aria-label="Views">
      <ul>
        {shown.map(([name, title]) => (
          <li key={name}>
            <a href={hrefOf(name)} aria-current={route.view === name ? 'page' : undefined} ref={route.view === name ? show : null}>
              {title}
              {name === 'overview' && waiting > 0 ? (
                <span class="badge">
                  {waiting}
                  <span class="unseen"> waiting for {isOwner ? 'your' : 'the owner’s'} approval</span>
                </span>
              ) : null}
              {name === 'hubs' && cluster !== undefined && cluster.text !== null ? (
                <span class="badge">
                  !<span class="unseen"> something is wrong with the cluster</span>
                </span>
              ) : null}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The menu scrolls on a narrow screen. */
function show(link: HTMLElement | null): void {
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

const said = { opening: 'opening', live: 'live', lost: 'hub is gone' };

function Connection({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const [isLeft, setLeft] = useState(false);
  // Before the hub has said who this is, nobody is told so.
  const isWatching = hub.told.report?.role === 'watcher';
  const signOut = (): void => {
    setLeft(true);
    void leave().then(() => location.reload());
  };
  return (
    <div class="connection">
      <span role="status">
        <State name={said[hub.told.connection]} />
      </span>
      {isWatching ? <span class="tag">watching</span> : null}
      <button type="button" class="quiet" disabled={isLeft} onClick={signOut}>
        Sign out
      </button>
    </div>
  );
}

function Lost({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const { connection, refusal } = hub.told;
  if (connection !== 'lost') return null;
  if (refusal !== undefined)
    return (
      <p class="banner" role="alert">
        The hub tells this page nothing more, which shows what was known last: {refusal} It is tried again by itself.
      </p>
    );
  return (
    <p class="banner" role="alert">
      The hub does not answer; this is what was known last. It is tried again by itself. If it was ended, start it (
      <code>notebridge serve</code>) and run <code>notebridge console</code>.
    </p>
  );
}

/** What is seldom opened is loaded when it is. */
function Opened({ hub, route: { view, names, query } }: { hub: LiveHub; route: Route }) {
  useHub(hub);
  const [first, second] = names;
  const isAlone = hub.told.report !== undefined && hub.told.report.cluster === undefined;
  if ((!hub.isOwner && !viewsOfWatchers.includes(view)) || (view === 'hubs' && isAlone)) return <Overview hub={hub} />;
  switch (view) {
    case 'overview':
      return <Overview hub={hub} />;
    case 'calls':
      return first === undefined ? <Calls hub={hub} query={query} /> : <OneCall key={first} hub={hub} id={first} />;
    case 'servers':
      return first === undefined ? <Servers hub={hub} /> : <OneServer key={first} hub={hub} name={first} />;
    case 'try':
      return (
        <Later
          key={view}
          load={async () => (await import('./views/try-out.js')).TryOut}
          props={{ hub, server: first, tool: second, call: query.get('call') ?? undefined }}
        />
      );
    case 'notebooks':
      return <Later key={view} load={async () => (await import('./views/notebooks-and-agents.js')).NotebooksAndAgents} props={{ hub }} />;
    case 'hubs':
      return <Later key={view} load={async () => (await import('./views/hubs.js')).Hubs} props={{ hub }} />;
    case 'grants':
      return <Later key={view} load={async () => (await import('./views/grants.js')).Grants} props={{ hub }} />;
    case 'connect':
      return <Later key={view} load={async () => (await import('./views/connect.js')).Connect} props={{ hub }} />;
  }
}
