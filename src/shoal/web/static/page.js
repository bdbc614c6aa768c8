// The page as a whole: shows steps, sends changes, listens to what happens. Each step has a module of its own.

// no await at the top: the modules of the steps import this one, and both would wait for ever
const key = document.querySelector('meta[name="change-key"]').content;
const page = () => document.getElementById('page');
const waiting = new Map(); // number of a job → address to show when it is done
const over = new Map(); // number of a job that is over → how it stands
let latest = 0; // of several answers on their way, only the last asked for is shown
let aim = null; // the step somebody is on the way to: news on the way must not lead back

export const listeners = { job: new Map(), point: null };

// --- showing --------------------------------------------------------------------------------------------------

export async function show(address, { push = true, focus = false } = {}) {
  const number = ++latest;
  if (push) aim = { address, focus };
  const answer = await fetch(address, { headers: { accept: 'text/html' } }).catch(() => null);
  const text = answer?.ok ? await answer.text() : null;
  if (number !== latest) return;
  aim = null; // from here to the new address nothing waits, so no news can come between
  if (!answer) return tell({ message: 'The server does not answer.', hint: 'It may have ended; start shoal serve again.' });
  if (!answer.ok) return tell(await sentence(answer));
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  const kept = push ? null : remember();
  page().replaceWith(fresh.getElementById('page'));
  document.title = fresh.title;
  const url = new URL(answer.url);
  if (push) {
    history.pushState(null, '', url.pathname + url.search);
    window.scrollTo(0, 0);
  }
  await wire();
  if (kept) restore(kept);
  else if (focus) document.getElementById('step').focus({ preventScroll: true });
}

export function refresh() {
  if (aim) return show(aim.address, { focus: aim.focus });
  return show(location.pathname + location.search, { push: false });
}

// what somebody is at: the field with the focus, what stands in it, and what is folded open
function remember() {
  const field = document.activeElement;
  return {
    id: field?.id,
    value: field?.matches?.('input:not([type=checkbox]):not([type=radio]):not([type=file]), textarea') ? field.value : null,
    from: field?.selectionStart,
    open: [...document.querySelectorAll('details[open][id]')].map((one) => one.id),
    notice: document.getElementById('notice')?.textContent,
    find: document.getElementById('find-column')?.value,
  };
}

function restore(kept) {
  for (const id of kept.open) document.getElementById(id)?.setAttribute('open', '');
  const find = document.getElementById('find-column');
  if (find && kept.find) {
    find.value = kept.find;
    find.dispatchEvent(new Event('input'));
  }
  const field = kept.id && document.getElementById(kept.id);
  if (!field) return;
  field.focus({ preventScroll: true });
  if (kept.value !== null && field.type !== 'number' && 'value' in field && field.value !== kept.value) {
    field.value = kept.value;
    field.setSelectionRange?.(kept.from, kept.from);
  }
}

async function wire() {
  const step = page().dataset.step;
  listeners.job.clear();
  listeners.point = null;
  const module = await import(`/static/${step}.js`).catch(() => null);
  module?.wire?.(page());
}

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
  return answer.json().catch(() => ({ message: 'The server met a fault.', hint: 'Reload the page.' }));
}

// --- changing -------------------------------------------------------------------------------------------------

export async function send(address, body, headers = {}) {
  const answer = await fetch(address, {
    method: 'POST',
    body: body instanceof Blob ? body : JSON.stringify(body),
    headers: { 'content-type': body instanceof Blob ? 'application/octet-stream' : 'application/json', 'x-shoal-change': key, ...headers },
  }).catch(() => null);
  if (!answer) {
    tell({ message: 'The server does not answer.', hint: 'It may have ended; start shoal serve again.' });
    return null;
  }
  if (!answer.ok) {
    tell(await sentence(answer));
    return null;
  }
  return answer.json();
}

// sends a change and shows what came of it; where it starts a job, `then` is shown when that is done
export async function post(address, body, { headers, then } = {}) {
  document.getElementById('notice').replaceChildren();
  const before = page().dataset.version;
  const told = await send(address, body, headers);
  if (!told) return null;
  if (told.go) await show(told.go);
  else if (page().dataset.version === before) await refresh(); // shown twice, the page would swallow a click in between
  if (told.job && then) {
    waiting.set(told.job, then);
    if (over.has(told.job)) finish(over.get(told.job)); // it was faster than the answer
  }
  return told;
}

// the fields of a form; a field with data-list is a list also where it has one value or none
export function fields(form, submitter) {
  const found = {};
  const data = new FormData(form, submitter);
  for (const name of new Set(data.keys())) found[name] = data.get(name);
  for (const one of form.querySelectorAll('[data-list]')) found[one.name] = data.getAll(one.name);
  return found;
}

document.addEventListener('submit', (event) => {
  const form = event.target.closest('form[data-post]');
  if (!form) return;
  event.preventDefault();
  post(form.dataset.post, fields(form, event.submitter), { then: form.dataset.then });
});

document.addEventListener('change', (event) => {
  if (event.target.matches('[data-now]')) event.target.form.requestSubmit();
});

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-show]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.getAttribute('aria-disabled') === 'true') return;
  show(link.getAttribute('href'), { focus: true });
});

document.addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return;
  if (event.target.matches('input[type=text], input[type=search], input[type=number], textarea')) return;
  event.preventDefault();
  document.getElementById(event.shiftKey ? 'redo' : 'undo')?.click();
});

window.addEventListener('popstate', () => show(location.pathname + location.search, { push: false }));

// --- listening ------------------------------------------------------------------------------------------------

function listen() {
  const events = new EventSource('/events');
  events.addEventListener('state', (event) => {
    if (JSON.parse(event.data).version > Number(page().dataset.version)) refresh();
  });
  events.addEventListener('job', (event) => hearJob(JSON.parse(event.data)));
  events.addEventListener('jobs', (event) => JSON.parse(event.data).forEach((job) => hearJob(job, true)));
  events.addEventListener('fault', (event) => tell(JSON.parse(event.data)));
  events.addEventListener('point', (event) => listeners.point?.(JSON.parse(event.data)));
  events.addEventListener('end', () => {
    events.close();
    tell({ message: 'shoal has ended. What it kept of your rows is removed.', hint: 'start shoal serve again to go on.' });
  });
  let lost = false;
  events.onerror = () => { lost = true; };
  events.onopen = () => {
    if (lost) refresh();
    lost = false;
  };
}

// `first`: told on connecting, about a job that may be long over
function hearJob(job, first = false) {
  const active = job.state === 'waiting' || job.state === 'running';
  for (const panel of document.querySelectorAll(`[data-job="${job.kind}"]`)) {
    panel.hidden = !active;
    panel.querySelector('progress').value = job.share;
    panel.querySelector('[data-job-text]').textContent = job.text && `— ${job.text}`;
    panel.querySelector('[data-job-left]').textContent = job.left === null ? '' : `about ${Math.max(1, Math.round(job.left))} s left`;
  }
  listeners.job.get(job.kind)?.(job);
  if (active || over.has(job.number)) return;
  over.set(job.number, job);
  if (job.state === 'failed' && !first) tell(job);
  finish(job);
}

function finish(job) {
  const next = waiting.get(job.number);
  waiting.delete(job.number);
  if (job.state === 'done' && next) show(next, { focus: true });
}

wire();
listen();
