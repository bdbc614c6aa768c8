// Step 7: copying the command and the Python, and showing that it is done.
import { whenShown } from '/static/flow.js';

let written = true; // whether the words that it is done are known already; on arriving they need not be shown

whenShown.push((page) => {
  const done = document.getElementById('published');
  if (done && !written) done.scrollIntoView({ block: 'center' });
  written = page.dataset.step !== 'publish' || Boolean(done);
});

document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const text = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(text);
    button.textContent = 'Selected: press Ctrl-C';
  }
});
