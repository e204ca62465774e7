// How the stories show what happens.

export function heading(text) {
  console.log(`\n${text}`);
}

export function say(who, text) {
  console.log(`   ${who.padEnd(9)} ${text}`);
}

/** One line of it. */
export function short(text) {
  const line = text.replaceAll('\n', '\\n');
  return line.length > 110 ? `${line.slice(0, 107)}...` : line;
}
