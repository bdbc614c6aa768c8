// The recipe: load one from a file.
import { post } from '/static/flow.js';

document.addEventListener('change', async (event) => {
  if (event.target.id !== 'recipe-file') return;
  const [file] = event.target.files;
  if (file) post('history/load', { text: await file.text() });
  event.target.value = '';
});
