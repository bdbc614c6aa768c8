// Step 1: a file dropped on the page, or chosen with the browser's own dialogue.
import { post } from '/static/flow.js';
import { follow } from '/static/jobs.js';

const placeOf = (event) => event.target.closest?.('#drop');

function take(file) {
  if (!file) return;
  post('open/drop', file, {
    headers: { 'x-file-name': encodeURIComponent(file.name) },
    done: (told) => { if (told.job) follow(told.job, told.go); },
    aside: true, // a large file takes a while, and the page stays usable
  });
}

document.addEventListener('change', (event) => {
  if (event.target.id === 'drop-file') take(event.target.files[0]);
});

document.addEventListener('dragover', (event) => {
  if (!placeOf(event)) return;
  event.preventDefault();
  placeOf(event).classList.add('over');
});

document.addEventListener('dragleave', (event) => placeOf(event)?.classList.remove('over'));

document.addEventListener('drop', (event) => {
  const place = placeOf(event);
  if (!place) return;
  event.preventDefault();
  place.classList.remove('over');
  take(event.dataTransfer.files[0]);
});
