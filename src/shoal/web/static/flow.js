// The one loop behind the page: changes go to the server one after the other, in the order of the clicks and keys that asked
// for them; when none is left, the step is shown as it is. News from the server only ask the loop for another look.
import { morph } from '/static/morph.js';

const key = document.querySelector('meta[name="change-key"]').content;
const GONE = { message: 'The server does not answer.', hint: 'It may have ended; start shoal serve again.' };
const changes = []; // to be sent, in order
let aim = null; // the step somebody wants to see
let stale = false; // the server has something newer than what is shown
let going = false;
let asking = null; // the question for a step that is on its way

export const page = () => document.getElementById('page');
export const whenShown = []; // called with the page after each time it was shown

// --- telling --------------------------------------------------------------------------------------------------

export function tell({ message, hint }) {
  const notice = document.getElementById('notice');
  notice.replaceChildren();
  for (const text of [message, hint && `What to do: ${hint}`].filter(Boolean)) {
    const line = document.createElement('p');
    line.textContent = text;
    notice.append(line);
  }
  notice.scrollIntoView({ block: 'nearest' });
}

async function sentence(answer) {
  return answer.json().catch(() => ({ message: 'The server had an internal error.', hint: 'Reload the page.' }));
}

// a question outside the loop: rows, reasons, pictures; null if there is no answer, which is then told
export async function ask(address) {
  const answer = await fetch(address).catch(() => null);
  if (answer?.ok) return answer.json();
  tell(answer ? await sentence(answer) : GONE);
  return null;
}

// --- asking the loop ------------------------------------------------------------------------------------------

// sends a change and shows what came of it; `done` hears the answer; `aside`: it need not wait for the changes before it;
// `strict`: it is about exactly what is shown, and never sent again for something newer
export function post(address, body, { headers = {}, done, form = null, aside = false, strict = false } = {}) {
  document.getElementById('notice').replaceChildren();
  const { session, table, edition } = page().dataset;
  const change = { address: new URL(address, location.href), body, headers, done, form, strict, session, table, edition: Number(edition) };
  if (aside) {
    send(change).then(refresh);
    return;
  }
  changes.push(change);
  asking?.abort();
  go();
}

// tells whether the page hears of changes elsewhere as they happen
let listens = () => false;
export const whileListening = (asked) => { listens = asked; };

// `yields`: if somebody is on the way elsewhere, that counts more
export function show(address, { push = true, focus = false, yields = false } = {}) {
  if (yields && aim) return;
  aim = { address, push, focus };
  asking?.abort();
  go();
}

export function refresh() {
  stale = true;
  go();
}

// --- the loop -------------------------------------------------------------------------------------------------

async function go() {
  if (going) return;
  going = true;
  document.body.setAttribute('aria-busy', 'true');
  try {
    while (changes.length || aim || stale) {
      if (changes.length) await send(changes.shift());
      else await look();
    }
  } finally {
    going = false;
    document.body.removeAttribute('aria-busy');
  }
}

// editions of each session that came of this page's own changes: it knows them without having been shown
const own = new Map();

async function send(change, tries = 10) {
  const { address, body, headers, done, form, strict, session, table } = change;
  const file = body instanceof Blob;
  const edition = Math.max(change.edition, own.get(session) ?? 0);
  const answer = await fetch(address, {
    method: 'POST',
    body: file ? body : JSON.stringify(body),
    headers: { 'content-type': file ? 'application/octet-stream' : 'application/json', 'x-shoal-change': key, 'x-shoal-edition': edition, ...headers },
  }).catch(() => null);
  stale = true;
  const told = answer ? await sentence(answer) : GONE;
  const old = told.refused?.old;
  // a change elsewhere crossed this one on the way: a page that hears of such things may choose on, on the same table
  if (old && !strict && tries && listens() && told.refused.table === table) {
    await send({ ...change, edition: told.refused.edition }, tries - 1);
    return;
  }
  if (told.edition !== undefined) own.set(session, told.edition);
  if (!answer?.ok || told.refused) {
    form?.reset(); // to what the server has
    tell(told.refused ?? told);
    return;
  }
  if (told.go && !told.job) aim ??= { address: told.go, push: true, focus: true };
  done?.(told);
}

async function look() {
  const target = aim;
  stale = false;
  asking = new AbortController();
  const overtaken = () => changes.length > 0 || aim !== target;
  const found = await fetchStep(target?.address ?? location.pathname + location.search, asking.signal);
  asking = null;
  await handsOff();
  if (overtaken()) {
    stale = true;
    return;
  }
  aim = null;
  if (found.fault) tell(found.fault);
  else put(found, target);
}

async function fetchStep(address, signal) {
  try {
    const answer = await fetch(address, { headers: { accept: 'text/html' }, signal });
    if (!answer.ok) return { fault: await sentence(answer) };
    return { url: new URL(answer.url), fresh: new DOMParser().parseFromString(await answer.text(), 'text/html') };
  } catch {
    return { fault: GONE };
  }
}

function put({ url, fresh }, target) {
  const next = fresh.getElementById('page');
  const field = document.activeElement?.id;
  if (target || next.dataset.step !== page().dataset.step) page().replaceWith(next);
  else morph(page(), next);
  document.title = fresh.title;
  const address = url.pathname + url.search;
  if (target?.push) {
    history.pushState(null, '', address);
    window.scrollTo(0, 0);
  } else if (address !== location.pathname + location.search) {
    history.replaceState(null, '', address);
  }
  for (const hear of whenShown) hear(page());
  if (target?.focus) document.getElementById('step').focus({ preventScroll: true });
  else if (field && document.activeElement?.id !== field) document.getElementById(field)?.focus({ preventScroll: true });
}

// --- hands ----------------------------------------------------------------------------------------------------

// while a button of the mouse is down nothing is changed: the page would take the click's aim away
let release = null;
let held = null;

const letGo = () => setTimeout(() => { // after the click that the same event brings
  release?.();
  held = release = null;
});
document.addEventListener('pointerdown', (event) => {
  if (event.target.closest?.('select')) return; // its list takes the end of the press for itself
  held ??= new Promise((resolve) => { release = resolve; });
}, true);
for (const name of ['pointerup', 'pointercancel', 'dragend']) document.addEventListener(name, letGo, true);
document.addEventListener('pointermove', (event) => { if (event.buttons === 0 && held) letGo(); }, true);
window.addEventListener('blur', letGo);

async function handsOff() {
  while (held) await held;
}
