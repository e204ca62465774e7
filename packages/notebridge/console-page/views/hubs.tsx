import { clock, count, digits, duration, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Fact, Head, Nothing, Section, State, useHub, View } from '../parts.js';
import { hrefOf } from '../route.js';
import type { ClusterReport, HubInCluster } from '../wire.js';
import { ClusterTrouble, isOld, stateOfThis } from './cluster-trouble.js';

const columns = { Hub: 'name', State: '', Has: 'what', 'Under way': 'number wide', 'Up for': 'number wide', Version: 'wide' };

/** The hubs of the cluster, as the one that this page is of knows them, and what each has. */
export function Hubs({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const cluster = hub.told.report?.cluster;
  if (cluster === undefined)
    return (
      <View title="Hubs">
        <Nothing>Asking the hub …</Nothing>
      </View>
    );
  const known = new Set(hub.told.servers.map(({ name }) => name));
  return (
    <View title="Hubs" beside={<p class="aside">{count(cluster.hubs.length, 'hub')}</p>}>
      {cluster.text === null ? null : (
        <Section title="Not as it should be">
          <ul class="cards">
            <ClusterTrouble cluster={cluster} />
          </ul>
        </Section>
      )}
      <dl class="facts summary">
        <Fact name="Cluster">{oneLine(cluster.name)}</Fact>
        <Fact name="You look at">{oneLine(cluster.hubs.find(({ is_this: isThis }) => isThis)?.name ?? 'one of them')}</Fact>
        <Fact name="NATS">
          {cluster.nats.connected ? 'connected' : 'not connected'} since {clock(cluster.nats.since)}
        </Fact>
      </dl>
      <table>
        <Head columns={columns} />
        <tbody>
          {cluster.hubs.map((one) => (
            <Row key={one.id} one={one} cluster={cluster} known={known} />
          ))}
        </tbody>
      </table>
      <SharedNames cluster={cluster} />
      <p class="soft note">
        “Has” lists what the cluster has only once: servers with <code>placement: one</code>, and pages opened as notebooks. Agents of every
        hub use them. All else of a hub is on its own console: run <code>notebridge console</code> on its machine
        {hub.isOwner ? '' : ', or open /console at its address with the token that you have'}.
        {cluster.hubs.some(({ address }) => isOfOneMachine(address)) ? ' An address with 127.0.0.1 is one of that machine alone.' : ''}
      </p>
    </View>
  );
}

/** Sessions and notebooks are found by the names of hubs. */
function SharedNames({ cluster: { hubs } }: { cluster: ClusterReport }) {
  const shared = new Set(hubs.map(({ name }) => name).filter((name, at, names) => names.indexOf(name) !== at));
  if (shared.size === 0) return null;
  return (
    <p class="note">
      Several hubs are called {[...shared].map(oneLine).join(', ')}: give each a <code>hubName</code> of its own. One that was killed is
      listed for 10 s more.
    </p>
  );
}

function Row({ one, cluster, known }: { one: HubInCluster; cluster: ClusterReport; known: ReadonlySet<string> }) {
  const { name, is_this: isThis, version, started_at: startedAt, calls } = one;
  return (
    <tr>
      <th scope="row">
        {oneLine(name)} {isThis ? <span class="tag">this one</span> : null}
        <Address one={one} />
      </th>
      <td>
        <State name={isThis ? stateOfThis(cluster) : stateOfOther(one, cluster)} />
      </td>
      <td>
        <Has one={one} known={known} isOld={!isThis && isOld(cluster)} />
      </td>
      <td class="number wide">{digits(calls)}</td>
      <td class="number wide">{duration(Math.max(0, Date.now() - Date.parse(startedAt)))}</td>
      <td class="wide">{oneLine(version)}</td>
    </tr>
  );
}

/** What was known last of others says nothing of now. */
function stateOfOther({ draining }: HubInCluster, cluster: ClusterReport): string {
  if (isOld(cluster)) return 'not known';
  return draining ? 'draining' : 'serving';
}

/** As the hub says it. One of its own machine means another hub, or none, on this one, so it is no link. */
function Address({ one: { address, is_this: isThis } }: { one: HubInCluster }) {
  if (address === null) return null;
  const isLink = !isThis && !isOfOneMachine(address) && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  return (
    <span class="soft id wide">
      {isLink ? (
        <a href={new URL('/console', address).href} target="_blank" rel="noreferrer">
          {oneLine(address)}
        </a>
      ) : (
        oneLine(address)
      )}
    </span>
  );
}

function isOfOneMachine(address: string | null): boolean {
  return address !== null && URL.canParse(address) && /^(localhost|127\..*|\[::1\])$/.test(new URL(address).hostname);
}

interface HasProps {
  one: HubInCluster;
  /** Servers that this hub has a page of, too. */
  known: ReadonlySet<string>;
  /** How its servers are is not known now. */
  isOld: boolean;
}

function Has({ one: { name, servers, pages }, known, isOld }: HasProps) {
  if (servers.count + pages.count === 0) return <span class="soft">nothing</span>;
  return (
    <>
      <ul class="has">
        {servers.first.map((server) => (
          <li key={server.name}>
            {known.has(server.name) ? <a href={hrefOf('servers', server.name)}>{oneLine(server.name)}</a> : oneLine(server.name)}{' '}
            {isOld ? null : <State name={server.status} />}
          </li>
        ))}
        {servers.count > servers.first.length ? <li>{count(servers.count - servers.first.length, 'more server')}</li> : null}
      </ul>
      {pages.count === 0 ? null : <Pages of={name} pages={pages} />}
    </>
  );
}

/** Who only watches is told how many there are. */
function Pages({ of, pages }: { of: string; pages: HubInCluster['pages'] }) {
  if (pages.first.length === 0) return <>{count(pages.count, 'page')}</>;
  return (
    <details>
      <summary>
        {count(pages.count, 'page')}
        <span class="unseen"> of {oneLine(of)}</span>
      </summary>
      <ul class="has">
        {pages.first.map(({ id, title }) => (
          <li key={id}>
            {oneLine(title)} <span class="soft">{oneLine(id)}</span>
          </li>
        ))}
        {pages.count > pages.first.length ? <li>{count(pages.count - pages.first.length, 'more page')}</li> : null}
      </ul>
    </details>
  );
}
