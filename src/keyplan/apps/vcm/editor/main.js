// The editor of rich text: Tiptap in place of the field for Markdown. The form stays the same; the document goes along
// in a hidden field, and the server checks it against its schema.

import { Editor } from "@tiptap/core";
import Image from "@tiptap/extension-image";
import { Selection } from "@tiptap/pm/state";
import StarterKit from "@tiptap/starter-kit";

// Pictures are media items; those of pages from elsewhere, pasted along with their text, are none.
const MediaImage = Image.extend({
  parseHTML() {
    return [{ tag: "img[data-media-id]" }];
  },
  addAttributes() {
    return {
      ...this.parent?.(),
      mediaId: {
        default: null,
        parseHTML: (element) => element.dataset.mediaId ?? null,
        renderHTML: (attributes) => (attributes.mediaId ? { "data-media-id": attributes.mediaId } : {}),
      },
    };
  },
});

const TOOLS = [
  ["Fett", "bold", (chain) => chain.toggleBold()],
  ["Kursiv", "italic", (chain) => chain.toggleItalic()],
  ["Durchgestrichen", "strike", (chain) => chain.toggleStrike()],
  ["Unterstrichen", "underline", (chain) => chain.toggleUnderline()],
  ["Überschrift", "heading", (chain) => chain.toggleHeading({ level: 2 })],
  ["Liste", "bulletList", (chain) => chain.toggleBulletList()],
  ["Nummern", "orderedList", (chain) => chain.toggleOrderedList()],
  ["Zitat", "blockquote", (chain) => chain.toggleBlockquote()],
];

function button(label, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet";
  made.textContent = label;
  made.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
  made.addEventListener("click", action);
  return made;
}

function linkTool(editor) {
  const address = window.prompt("Adresse des Links (leer: kein Link)", editor.getAttributes("link").href ?? "https://");
  if (address === null) return;
  const chain = editor.chain().focus().extendMarkRange("link");
  const href = [address, `https://${address}`].find(isLink);
  if (["", "https://"].includes(address)) chain.unsetLink().run();
  else if (href) chain.setLink({ href }).run();
  else window.alert("Ein Link beginnt mit https://, http:// oder mailto:.");
}

// As the server takes links: what it would refuse is pasted as plain words.
const LINK =
  /^(https?:\/\/[^\s\\/?#@:[\]]+(:\d{1,5})?([/?#][^\s\\]*)?|mailto:[^\s\\]*@[^\s\\]*|\/media\/[^\s\\]*)$/;

function isLink(address) {
  return LINK.test(address ?? "") && address.length <= 2048;
}

// For those who can not drop one: a file is chosen, and put where the text goes on.
function pictureTool(editor) {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = "image/jpeg,image/png,image/gif,image/webp";
  input.addEventListener("change", () => takeFiles(editor, input.files));
  input.click();
}

function toolbar(editor, place) {
  const tools = TOOLS.map(([label, name, act]) => {
    const made = button(label, () => act(editor.chain().focus()).run());
    editor.on("transaction", () => made.setAttribute("aria-pressed", editor.isActive(name)));
    return made;
  });
  place.append(...tools, button("Link", () => linkTool(editor)), button("Bild", () => pictureTool(editor)));
}

// A picture that was just put in is selected; the next letter would take its place.
function goOnBehind({ tr }) {
  const behind = Selection.findFrom(tr.doc.resolve(tr.selection.to), 1, true);
  if (behind) tr.setSelection(behind);
  return true;
}

// Pictures that are dropped or pasted are uploaded first, one after the other; upload() is the page's own. The text may
// be written on meanwhile: the place moves along with it.
function takeFiles(editor, files, at) {
  const pictures = [...files].filter((file) => file.type.startsWith("image/"));
  if (pictures.length) putIn(editor, pictures, at);
  return pictures.length > 0;
}

async function putIn(editor, pictures, at) {
  const follow = ({ transaction }) => {
    at = at === undefined ? at : transaction.mapping.map(at);
  };
  editor.on("transaction", follow);
  for (const file of pictures) {
    try {
      const media = await window.keyplanUpload(file);
      const node = { type: "image", attrs: { mediaId: media.id, src: media.url, alt: media.alt } };
      editor.chain().focus().insertContentAt(at ?? editor.state.selection.to, node).run();
      editor.commands.command(goOnBehind);
    } catch {
      // shown beside the field for uploads; the others may succeed
    }
  }
  editor.off("transaction", follow);
}

for (const field of document.querySelectorAll("[data-richtext]")) {
  const text = field.querySelector("textarea");
  const hidden = field.querySelector("input[type=hidden]");
  if (text.value !== text.defaultValue) {
    // Somebody was faster than this script: what they wrote stays, and they go on in Markdown.
    field.dataset.ready = "markdown";
    continue;
  }
  const [bar, place] = ["toolbar", "editor"].map((name) => {
    const made = document.createElement("div");
    made.className = name;
    return made;
  });
  for (const each of field.querySelectorAll("[data-markdown]")) each.hidden = true;
  text.after(bar, place);
  const typed = hidden.value;
  const editor = new Editor({
    element: place,
    injectCSS: false,
    extensions: [StarterKit.configure({ link: { openOnClick: false, isAllowedUri: isLink } }), MediaImage],
    content: JSON.parse(typed || field.dataset.richtext),
    editorProps: {
      attributes: { role: "textbox", "aria-multiline": "true", "aria-label": field.dataset.label, class: "text" },
      handleDrop: (view, event, slice, moved) => {
        if (moved || !event.dataTransfer?.files.length) return false;
        const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos;
        return takeFiles(editor, event.dataTransfer.files, at);
      },
      handlePaste: (view, event) => takeFiles(editor, event.clipboardData?.files ?? []),
    },
    onUpdate: () => {
      hidden.value = JSON.stringify(editor.getJSON());
    },
  });
  toolbar(editor, bar);
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", `${field.dataset.label}: Gestaltung`);
  field.dataset.ready = "editor";
}
