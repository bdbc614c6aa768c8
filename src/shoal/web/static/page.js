// The page as a whole: clicks and keys on what all steps have, and the stream of news. Everything is heard at the document and before
// anything can be clicked, so nothing is lost while a step is shown again. Each step has a module of its own.
import { page, post, refresh, show, tell, whenShown, whileListening } from '/static/flow.js';
import { follow, forget, hear } from '/static/jobs.js';
import '/static/open.js';
import '/static/columns.js';
import '/static/hierarchies.js';
import '/static/protect.js';
import '/static/compare.js';
import '/static/look.js';
import '/static/publish.js';
import '/static/recipe.js';

// the fields of a form; a field with data-list is a list also if it has one value or none
function fields(form, submitter) {
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
  const { then } = form.dataset;
  post(form.dataset.post, fields(form, event.submitter), {
    done: (told) => { if (told.job && then) follow(told.job, told.go ?? then); },
    form: form.querySelector('[data-now]') && form,
    aside: 'aside' in form.dataset,
    strict: 'strict' in form.dataset,
  });
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
  // sent also if the button waits for the answer to a change just made: the server knows what can be taken back
  post(event.shiftKey ? 'history/redo' : 'history/undo', {});
});

window.addEventListener('popstate', () => show(location.pathname + location.search, { push: false }));

// --- listening ------------------------------------------------------------------------------------------------

let events = null;
let listeningTo = null; // the session whose news are heard

function listen() {
  listeningTo = page().dataset.session;
  events = new EventSource(`/${listeningTo}/events`);
  events.addEventListener('state', (event) => {
    if (JSON.parse(event.data).version > Number(page().dataset.version)) refresh();
  });
  events.addEventListener('job', (event) => hear(JSON.parse(event.data)));
  events.addEventListener('jobs', (event) => JSON.parse(event.data).forEach((job) => hear(job, true)));
  events.addEventListener('fault', (event) => tell(JSON.parse(event.data)));
  events.addEventListener('end', () => {
    events.close();
    tell({ message: 'shoal has ended. What it kept of your rows is removed.', hint: 'start shoal serve again to go on.' });
  });
}

// a browser keeps few lines to one server open: a tab that nobody sees gives its own back
document.addEventListener('visibilitychange', () => {
  events.close();
  if (!document.hidden) listen();
});

// another table has news of its own
whenShown.push((shown) => {
  if (shown.dataset.session === listeningTo || listeningTo === null) return;
  events.close();
  forget();
  if (!document.hidden) listen();
});

for (const shown of whenShown) shown(page());
listen();
whileListening(() => events?.readyState === EventSource.OPEN);
document.body.inert = false;
