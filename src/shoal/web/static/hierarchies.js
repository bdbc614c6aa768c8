// Step 3: dragging nodes of the tree onto others and values to their place in an order, and loading a file from elsewhere.
import { post, whenShown } from '/static/flow.js';

let dragged = null; // the node of the tree, or the value of the order
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
const nodeAt = (event) => event.target.closest?.('.tree li');
const isOrder = (node) => node.parentElement.id === 'order';

document.addEventListener('change', async (event) => {
  if (event.target.id !== 'tree-file') return;
  const [file] = event.target.files;
  const column = columnShown();
  if (file) post('hierarchies/load', { column, text: await file.text() });
  event.target.value = '';
});

// --- dragging -------------------------------------------------------------------------------------------------

document.addEventListener('dragstart', (event) => { dragged = nodeAt(event) ?? null; });
document.addEventListener('dragend', () => { dragged = null; });

document.addEventListener('dragover', (event) => {
  if (!dragged || !nodeAt(event)) return;
  event.preventDefault();
  nodeAt(event).classList.add('over');
});

document.addEventListener('dragleave', (event) => nodeAt(event)?.classList.remove('over'));

document.addEventListener('drop', (event) => {
  const target = nodeAt(event);
  if (!dragged || !target) return;
  event.preventDefault();
  target.classList.remove('over');
  if (target === dragged) return;
  if (isOrder(target)) place(dragged, { place: [...target.parentElement.children].indexOf(target) });
  else putTogether(dragged.dataset.node, target);
});

// onto a group: into it; onto a value: both into a new group
function putTogether(node, target) {
  const ticked = [...document.querySelectorAll('#tree-form [name=nodes]:checked')].map((one) => one.value);
  const nodes = ticked.includes(node) ? ticked : [node];
  const onto = target.dataset.node;
  const change = target.matches('.group') ? { what: 'move', nodes, name: onto } : { what: 'merge', nodes: [...new Set([onto, ...nodes])] };
  post('hierarchies/change', { column: columnShown(), ...change });
}

// --- an order -------------------------------------------------------------------------------------------------

function place(node, where) {
  post('hierarchies/order', { column: columnShown(), value: node.dataset.value, ...where });
}

// steps and not places, so that of two quick keys none is lost
document.addEventListener('keydown', (event) => {
  const steps = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const node = event.target.closest?.('#order li');
  if (!steps || !node) return;
  event.preventDefault();
  place(node, { steps });
});
