// The editor of rich text: Tiptap in place of the field for Markdown. The form stays the same; the document goes along
// in a hidden field, and the server checks it against its schema.

import { Editor } from "@tiptap/core";
import Image from "@tiptap/extension-image";
import StarterKit from "@tiptap/starter-kit";

const MediaImage = Image.extend({
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
  if (address === "") chain.unsetLink().run();
  else chain.setLink({ href: address }).run();
}

function toolbar(editor, place) {
  const tools = TOOLS.map(([label, name, act]) => {
    const made = button(label, () => act(editor.chain().focus()).run());
    editor.on("transaction", () => made.setAttribute("aria-pressed", editor.isActive(name)));
    return made;
  });
  place.append(...tools, button("Link", () => linkTool(editor)));
}

// Pictures that are dropped or pasted are uploaded first; upload() is the page's own.
function takeFiles(editor, files, at) {
  const pictures = [...files].filter((file) => file.type.startsWith("image/"));
  for (const file of pictures) {
    window.keyplanUpload(file).then(
      (media) => {
        const node = { type: "image", attrs: { mediaId: media.id, src: media.url, alt: media.alt } };
        editor.chain().focus().insertContentAt(at ?? editor.state.selection.to, node).run();
      },
      () => {}, // it is told beside the field
    );
  }
  return pictures.length > 0;
}

for (const field of document.querySelectorAll("[data-richtext]")) {
  const text = field.querySelector("textarea");
  const hidden = field.querySelector("input[type=hidden]");
  const [bar, place] = ["toolbar", "editor"].map((name) => {
    const made = document.createElement("div");
    made.className = name;
    return made;
  });
  text.hidden = true;
  field.querySelector("[data-markdown-hint]").hidden = true;
  text.after(bar, place);
  const typed = hidden.value;
  const editor = new Editor({
    element: place,
    injectCSS: false,
    extensions: [StarterKit.configure({ link: { openOnClick: false, protocols: ["http", "https", "mailto"] } }), MediaImage],
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
  field.dataset.ready = "yes";
}
