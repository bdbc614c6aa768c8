// Step 6: rows before and after, a page at a time, and the reason for a cell.
import { ask, whenShown } from '/static/flow.js';

let release = null; // whose rows are shown
let first = 0; // stays over a refresh, so that the same rows are shown
let chosenTab = 'tab-rows';

const get = (id) => document.getElementById(id);
const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);

whenShown.push(() => {
  const table = get('pairs');
  if (!table) return;
  chooseTab(get(chosenTab));
  if (release !== table.dataset.own) first = 0;
  release = table.dataset.own;
  if (!table.tBodies.length) load(first);
});

document.addEventListener('click', (event) => {
  const step = Number(get('pairs')?.dataset.limit);
  const target = event.target.closest('button');
  if (!step || !target) return;
  if (target.id === 'rows-back') load(Math.max(0, first - step));
  else if (target.id === 'rows-on') load(first + step);
  else if (target.id === 'why-close') closeWhy();
  else if (target.matches('[role=tab]')) chooseTab(target);
  else if (target.matches('[data-cell]')) explain(target);
});

document.addEventListener('change', (event) => {
  if (event.target.id === 'withheld') load(0);
});

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && get('why-row')) closeWhy();
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!move || !event.target.matches?.('[role=tab]')) return;
  const tabs = [...document.querySelectorAll('[role=tab]')];
  const next = tabs[(tabs.indexOf(event.target) + move + tabs.length) % tabs.length];
  chooseTab(next);
  next.focus();
});

function chooseTab(chosen) {
  chosenTab = chosen.id;
  for (const tab of document.querySelectorAll('[role=tab]')) {
    tab.setAttribute('aria-selected', tab === chosen);
    tab.tabIndex = tab === chosen ? 0 : -1;
    get(tab.getAttribute('aria-controls')).hidden = tab !== chosen;
  }
}

async function load(from) {
  const table = get('pairs');
  const found = await ask(`look/rows?first=${from}&withheld=${get('withheld')?.checked ?? false}`);
  if (!found || !table.isConnected) return;
  first = from;
  draw(table, found);
  get('rows-back').disabled = from === 0;
  get('rows-on').disabled = from + found.rows.length >= found.total;
}

function draw(table, found) {
  const head = document.createElement('tr');
  head.append(element('td', ''), ...found.names.map((name) => element('th', name, { scope: 'col' })));
  const thead = document.createElement('thead');
  thead.append(head);
  const body = document.createElement('tbody');
  for (const one of found.rows) {
    body.append(line(one.is ? 'was' : 'withheld', one.was, 'was'));
    if (one.is) body.append(line('is', one.is, 'is', (name, place, text) => cell(found, one, name, place, text), found.names));
  }
  const range = found.total ? `rows ${(found.first + 1).toLocaleString('en')} to ${(found.first + found.rows.length).toLocaleString('en')} of ${found.total.toLocaleString('en')}` : 'no rows';
  table.replaceChildren(element('caption', range, { className: 'quiet' }), thead, body);
}

function line(title, texts, kind, make, names) {
  const row = element('tr', '', { className: kind });
  row.append(element('th', title, { scope: 'row', className: 'quiet' }));
  texts.forEach((text, place) => row.append(make ? make(names[place], place, text) : element('td', text, { title: text })));
  return row;
}

function cell(found, one, name, place, text) {
  const field = element('td', '');
  const changed = text !== one.was[place];
  const known = found.quasi.includes(name);
  const shown = text || '(missing)';
  // what is not a quasi-identifier was treated, not made coarser: there is no reason to ask for
  const part = element(known ? 'button' : 'span', '', { className: changed ? 'cell changed' : 'cell', id: `cell-${one.row}-${place}` });
  // a range or a set breaks between its words alone, never inside a date
  for (const word of (known ? shown : text).split(/ (?=to )|(?<=,) /)) part.append(element('span', word, { className: 'word' }), ' ');
  part.title = known ? `${shown} – why?` : text;
  if (known) Object.assign(part.dataset, { cell: '', row: one.row, column: name });
  field.append(part);
  return field;
}

// the reason is in a row of its own below the cell it is about, so that it never hides what it explains
async function explain(button) {
  const { row, column } = button.dataset;
  for (const old of document.querySelectorAll('.cell.asked')) old.classList.remove('asked');
  button.classList.add('asked');
  const found = await ask(`look/why?row=${row}&column=${encodeURIComponent(column)}`);
  if (!found || !button.classList.contains('asked') || !button.isConnected) return;
  get('why-row')?.remove();
  const side = element('aside', '', { id: 'why' });
  side.setAttribute('aria-live', 'polite');
  side.append(element('h2', `Why is ${column} ${found.released}?`), ...found.sentences.map((text) => element('p', text)));
  if (found.whole) side.append(element('p', found.whole, { className: 'fine' }));
  side.append(element('button', 'Close the reason', { className: 'small', id: 'why-close' }));
  const line = element('tr', '', { id: 'why-row' });
  const field = element('td', '');
  field.colSpan = button.closest('tr').cells.length;
  field.append(side);
  line.append(field);
  button.closest('tr').after(line);
  side.scrollIntoView({ block: 'nearest' });
}

function closeWhy() {
  get('why-row')?.remove();
  document.querySelector('.cell.asked')?.focus();
}
