/** The descriptors that this process may have; where the system knows no such bound, infinitely many. Takes some 10 ms. */
export function ownDescriptorLimit(): number {
  // The types of our oldest Node lack the switch.
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  // Looking up the names of its neighbours could take seconds.
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  report.excludeNetwork = excludeNetwork;
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY;
}
