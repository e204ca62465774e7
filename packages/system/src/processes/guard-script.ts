/**
 * What the guard runs, in any POSIX shell. `$1` is the marker of our trees. Each line of stdin is `watch GROUP` or `release GROUP`;
 * at the end of stdin we have ended or were killed, and whatever is left is ended too. Only Linux shows environments in `/proc`
 * (not of a process that is just being started, so one look is not enough); elsewhere a descendant that left its group is not found.
 */
export const guardScript = `
trap '' HUP INT QUIT TERM
marker=$1
groups=
while read -r word group; do
  case $word in
    watch) groups="$groups $group" ;;
    release)
      kept=
      for each in $groups; do [ "$each" = "$group" ] || kept="$kept $each"; done
      groups=$kept ;;
  esac
done
strays() { grep -lsF "$marker" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\\n'; }
send() {
  for each in $groups; do kill -s "$1" -- "-$each"; done
  for each in $(strays); do kill -s "$1" "$each"; done
}
alive() {
  for each in $groups; do kill -s 0 -- "-$each" && return 0; done
  [ -n "$(strays)" ]
}
{
  alive || sleep 0.1 || sleep 1
  alive || exit 0
  send TERM
  tries=0
  while [ $tries -lt 5 ] && alive; do
    sleep 0.1 || sleep 1
    tries=$((tries + 1))
  done
  send KILL
  sleep 0.1 || sleep 1
  send KILL
} 2>/dev/null
`;
