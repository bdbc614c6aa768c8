// Step 3: dragging nodes of the tree onto groups, and loading a file from elsewhere.
import { post, whenShown } from '/static/flow.js';

let dragged = null;
let shown = null; // the tree that is shown

// what was ticked is done with when the tree has changed
whenShown.push(() => {
  const tree = document.getElementById('editor')?.dataset.tree;
  if (tree === shown) return;
  shown = tree;
  for (const one of document.querySelectorAll('#tree-form [name=nodes]:checked')) one.checked = false;
  if (document.getElementById('node-name')) document.getElementById('node-name').value = '';
});

const columnShown = () => document.getElementById('editor').dataset.column;
const groupAt = (event) => event.target.closest?.('.tree li.group');

document.addEventListener('change', async (event) => {
  if (event.target.id !== 'tree-file') return;
  const [file] = event.target.files;
  const column = columnShown();
  if (file) post('/hierarchies/load', { column, text: await file.text() });
  event.target.value = '';
});

document.addEventListener('dragstart', (event) => {
  dragged = event.target.closest?.('.tree li')?.dataset.node ?? null;
});

document.addEventListener('dragover', (event) => {
  if (dragged === null || !groupAt(event)) return;
  event.preventDefault();
  groupAt(event).classList.add('over');
});

document.addEventListener('dragleave', (event) => groupAt(event)?.classList.remove('over'));

document.addEventListener('drop', (event) => {
  const group = groupAt(event);
  if (dragged === null || !group) return;
  event.preventDefault();
  group.classList.remove('over');
  if (dragged === group.dataset.node) return;
  const ticked = [...document.querySelectorAll('#tree-form [name=nodes]:checked')].map((one) => one.value);
  const nodes = ticked.includes(dragged) ? ticked : [dragged];
  post('/hierarchies/change', { column: columnShown(), what: 'move', nodes, name: group.dataset.node });
});
