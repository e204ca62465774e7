import { count, duration, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Head, Nothing, State, useHub, View } from '../parts.js';
import { hrefOf } from '../route.js';
import type { HubReport } from '../wire.js';
import { LastEdit } from './last-edit.js';

const columns = {
  Server: '',
  State: '',
  Tools: 'number',
  'Under way': 'number',
  Restarts: 'number wide',
  'Agents see it': 'wide',
  'In this state for': 'number wide',
};

/** How agents see the tools of a server, by the word of its config. */
export const seenAs: { readonly [expose: string]: string } = { direct: 'by name', code: 'in code alone', none: 'not at all' };

export function Servers({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const { servers, connection, report } = hub.told;
  return (
    <View title="Servers" beside={<p class="aside">{count(servers.length, 'server')}</p>}>
      {servers.length === 0 ? (
        <Nothing>
          {connection === 'opening'
            ? 'Asking the hub …'
            : `No server. Add one to ${oneLine(report?.config_file ?? 'a config and start the hub with it')}.`}
        </Nothing>
      ) : (
        <table>
          <Head columns={columns} />
          <tbody>
            {servers.map(({ name, status, tools, in_flight: inFlight, restarts, expose, since, is_config: isConfig }) => (
              <tr key={name}>
                <th scope="row">
                  <a href={hrefOf('servers', name)}>{oneLine(name)}</a>
                  {isConfig ? null : <span class="soft"> built in</span>}
                  <AtHub server={name} report={report} />
                </th>
                <td>
                  <State name={status} />
                </td>
                <td class="number">{tools?.length ?? '–'}</td>
                <td class="number">{inFlight}</td>
                <td class="number wide">{restarts}</td>
                <td class="wide">{seenAs[expose] ?? oneLine(expose)}</td>
                <td class="number wide">{duration(Math.max(0, Date.now() - since))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {hub.isOwner ? <LastEdit hub={hub} /> : null}
    </View>
  );
}

/** Of a server of which the cluster has one: at which other hub it is. */
function AtHub({ server, report }: { server: string; report: HubReport | undefined }) {
  const at = report?.cluster?.hubs.find((hub) => !hub.is_this && hub.servers.first.some(({ name }) => name === server));
  return at === undefined ? null : (
    <>
      {' '}
      <span class="soft">at {oneLine(at.name)}</span>
    </>
  );
}
