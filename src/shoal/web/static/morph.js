// Makes a shown page equal to a fresh one in place. What is in both stays the same element: the focus, a click half
// done and what somebody is typing survive news from the server.

// elements with data-own are filled by the module of their step; they stay as they are while data-own stays the same
const isOwn = (old, fresh) => old.dataset.own !== undefined && old.dataset.own === fresh.dataset.own;
const isTyped = (field) => field.matches('textarea, input:not([type=checkbox]):not([type=radio]):not([type=file])');

export function morph(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (isOwn(old, fresh)) return;
  const before = given(old);
  morphAttributes(old, fresh);
  morphChildren(old, fresh);
  if (before !== undefined) morphField(old, before);
}

function morphAttributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === 'open' && old.matches('details'))) old.removeAttribute(name);
  }
}

function morphChildren(old, fresh) {
  const wanted = [...fresh.childNodes];
  const stays = new Set(wanted.map((one) => one.id).filter(Boolean));
  const known = new Map([...old.children].filter((one) => one.id).map((one) => [one.id, one]));
  let place = old.firstChild;
  const pass = () => {
    const passed = place;
    place = place.nextSibling;
    return passed;
  };
  for (const one of wanted) {
    const twin = one.id && known.get(one.id);
    // what is gone is taken out first: moving an element would take the focus from it
    while (twin && place && place !== twin && !stays.has(place.id)) pass().remove();
    if (twin && twin.nodeName === one.nodeName) {
      if (place === twin) pass();
      else old.insertBefore(twin, place);
      morph(twin, one);
    } else if (place && !place.id && !one.id && place.nodeName === one.nodeName) {
      morph(pass(), one);
    } else {
      old.insertBefore(one, place);
    }
  }
  while (place) pass().remove();
}

// what the server says is in a field
function given(field) {
  if (field.matches('select')) return [...field.options].find((one) => one.defaultSelected)?.value ?? '';
  if (field.matches('input[type=checkbox], input[type=radio]')) return field.defaultChecked;
  return field.matches('input, textarea') ? field.defaultValue : undefined;
}

// a field shows what the server says as soon as that changes; until then it keeps what somebody put into it
function morphField(field, before) {
  const now = given(field);
  const typing = field === document.activeElement && isTyped(field);
  if (now === before && (typing || !field.matches('[data-now]'))) return;
  if (typeof now === 'boolean') field.checked = now;
  else if (field.type !== 'file' && field.value !== now) field.value = now;
}
