import { CallLink, callerOf, hasFailed, Outcome } from '../call-parts.js';
import { clock, digits, duration } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Head, Nothing, Section, useHub, View } from '../parts.js';
import type { Call } from '../wire.js';
import { Approvals } from './approvals.js';
import { Picture } from './picture.js';
import { Problems } from './problems.js';

const columns = { Tool: '', Outcome: '', Caller: 'wide', Began: 'number' };

const mostFailed = 8;

/** The hub at a glance: what waits and what is wrong stands first, with what to do about it. */
export function Overview({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const { report } = hub.told;
  const failed = hub.calls.newestFirst.filter(hasFailed).slice(0, mostFailed);
  return (
    <View
      title="Overview"
      beside={
        report === undefined ? null : (
          <p class="aside">
            Version {report.version}, up for {duration(Date.now() - Date.parse(report.started_at))}
          </p>
        )
      }
    >
      {report === undefined ? (
        <Nothing>{hub.told.connection === 'lost' ? 'Nothing is known of the hub yet.' : 'Asking the hub …'}</Nothing>
      ) : (
        <>
          <Approvals hub={hub} />
          <Problems hub={hub} />
          <Picture hub={hub} report={report} />
          <Section title="Failed last" beside={failed.length === 0 ? null : <a href="#/calls?outcome=failed">All that failed</a>}>
            {failed.length === 0 ? <Nothing>{noneFailed(report.calls.failed)}</Nothing> : <Failed calls={failed} />}
          </Section>
        </>
      )}
    </View>
  );
}

function noneFailed(ever: number): string {
  return ever === 0 ? 'No call has failed since the hub started.' : `None of the last calls failed; ${digits(ever)} did before.`;
}

function Failed({ calls }: { calls: readonly Call[] }) {
  return (
    <table>
      <Head columns={columns} />
      <tbody>
        {calls.map((call) => (
          <tr key={call.id}>
            <td>
              <CallLink call={call} />
            </td>
            <td>
              <Outcome call={call} />
            </td>
            <td class="wide">{callerOf(call)}</td>
            <td class="number">{clock(call.started_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
