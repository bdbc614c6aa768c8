// Step 6: rows before and after, a page at a time, and the reason for a cell.
import { tell } from '/static/page.js';

let first = 0; // stays over a refresh, so that the same rows are shown
let chosenTab = 'tab-rows';

export function wire(root) {
  const table = root.querySelector('#pairs');
  if (!table) return;
  wireTabs(root);
  const withheld = root.querySelector('#withheld');
  const back = root.querySelector('#rows-back');
  const on = root.querySelector('#rows-on');
  const load = async (from) => {
    const answer = await fetch(`/look/rows?first=${from}&withheld=${withheld.checked}`);
    const found = await answer.json();
    if (!answer.ok) return tell(found);
    first = from;
    draw(table, found);
    back.disabled = from === 0;
    on.disabled = from + found.rows.length >= found.total;
  };
  const step = Number(root.querySelector('[data-limit]')?.dataset.limit ?? 10);
  back.addEventListener('click', () => load(Math.max(0, first - step)));
  on.addEventListener('click', () => load(first + step));
  withheld.addEventListener('change', () => load(0));
  table.addEventListener('click', (event) => {
    const cell = event.target.closest('button[data-cell]');
    if (cell) explain(root, cell);
  });
  load(first).catch(() => {});
}

function wireTabs(root) {
  const tabs = [...root.querySelectorAll('[role="tab"]')];
  const choose = (tab, focus) => {
    chosenTab = tab.id;
    for (const one of tabs) {
      const own = one === tab;
      one.setAttribute('aria-selected', own);
      one.tabIndex = own ? 0 : -1;
      root.querySelector(`#${one.getAttribute('aria-controls')}`).hidden = !own;
    }
    if (focus) tab.focus();
  };
  tabs.forEach((tab, place) => {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (move) choose(tabs[(place + move + tabs.length) % tabs.length], true);
    });
  });
  choose(root.querySelector(`#${chosenTab}`) ?? tabs[0]);
}

const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);

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
  texts.forEach((text, place) => row.append(make ? make(names[place], place, text) : element('td', text)));
  return row;
}

function cell(found, one, name, place, text) {
  const field = element('td', '');
  const changed = text !== one.was[place];
  if (!changed && !found.quasi.includes(name)) {
    field.textContent = text;
    return field;
  }
  const button = element('button', text || '(missing)', { className: changed ? 'cell changed' : 'cell', id: `cell-${one.row}-${place}` });
  Object.assign(button.dataset, { cell: '', row: one.row, column: name });
  button.title = 'why?';
  field.append(button);
  return field;
}

async function explain(root, button) {
  const { row, column } = button.dataset;
  for (const old of root.querySelectorAll('.cell.asked')) old.classList.remove('asked');
  button.classList.add('asked');
  const answer = await fetch(`/look/why?row=${row}&column=${encodeURIComponent(column)}`);
  const found = await answer.json();
  if (!answer.ok) return tell(found);
  const side = root.querySelector('#why');
  const close = element('button', 'close', { className: 'small', id: 'why-close' });
  close.addEventListener('click', () => {
    side.hidden = true;
    button.focus();
  });
  side.replaceChildren(element('h2', `Why ${found.released}?`), ...found.sentences.map((text) => element('p', text)));
  if (found.whole) side.append(element('p', found.whole, { className: 'fine' }));
  side.append(close);
  side.hidden = false;
}
