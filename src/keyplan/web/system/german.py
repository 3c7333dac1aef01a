"""What the kit says, in German. A system adds its own words: `GERMAN.with_words({"Title": "Titel"})`."""

from datetime import date

from keyplan.web.system.language import Language

_PAGES = {
    "Skip to content": "Zum Inhalt springen",
    "Sign in": "Anmelden",
    "Sign in again": "Erneut anmelden",
    "Sign out": "Abmelden",
    "All systems": "Alle Systeme",
    "Pages": "Seiten",
    "First page": "Erste Seite",
    "Time zone": "Zeitzone",
    "Time zone: {zone}": "Zeitzone: {zone}",
    "Times are shown, and entered, in this time zone.": "Zeiten werden in dieser Zeitzone gezeigt und eingegeben.",
    "Save time zone": "Zeitzone speichern",
    "That of my device": "Die meines Geräts",
    "Choose a time zone from the list.": "Bitte eine Zeitzone aus der Liste wählen.",
    "Times are in the time zone of your device": "Zeiten sind in der Zeitzone deines Geräts",
    "Times are in {zone}": "Zeiten sind in {zone}",
    "There is no {time} on {day} in {zone}: clocks go from {first} to {last}. Enter another time.": (
        "{time} Uhr gibt es am {day} in {zone} nicht: Die Uhren springen von {first} auf {last}. "
        "Bitte eine andere Zeit eingeben."
    ),
    "Enter a date between the years 2 and 9998.": "Bitte ein Datum zwischen den Jahren 2 und 9998 eingeben.",
    "Clocks show {time} twice on {day} in {zone}. The first one ({first}, not {second}) was saved.": (
        "{time} Uhr gibt es am {day} in {zone} zweimal. Gespeichert wurde die erste ({first}, nicht {second})."
    ),
    "Next page": "Nächste Seite",
    "Previous page": "Vorherige Seite",
    "Newest first": "Neueste zuerst",
    "Latest first": "Letzte zuerst",
    "Next first": "Nächste zuerst",
    "Sorted by name": "Nach Namen sortiert",
    "Go to the home page": "Zur Startseite",
    "Go back to the page": "Zurück zur Seite",
    "request ID": "Anfrage-ID",
    "Choose a user": "Benutzer auswählen",
    "This server runs in development mode: you can sign in as anyone. It only accepts connections from this machine.": (
        "Dieser Server läuft im Entwicklungsmodus: Du kannst dich als beliebige Person anmelden. Er ist nur von diesem "
        "Rechner aus erreichbar."
    ),
    "Another user": "Anderer Benutzer",
    "User ID": "Benutzer-ID",
    "For example: alice": "Zum Beispiel: alice",
    "Groups": "Gruppen",
    "Optional. Separate groups with spaces, for example: admin editor": (
        "Optional. Gruppen durch Leerzeichen trennen, zum Beispiel: admin editor"
    ),
    "Signed in as {name}": "Angemeldet als {name}",
    "Signed out": "Abgemeldet",
    "Fix the errors below": "Bitte die folgenden Angaben korrigieren",
    "There was a problem": "Es gab ein Problem",
}
_PROBLEMS = {
    "Bad request": "Ungültige Anfrage",
    "Sign in to continue": "Bitte anmelden",
    "Your session has expired": "Deine Sitzung ist abgelaufen",
    "What you entered": "Deine Eingaben",
    "It wasn't saved. You can copy it here.": "Sie wurden nicht gespeichert. Du kannst sie hier kopieren.",
    "Your session has ended": "Deine Sitzung ist beendet",
    "Nothing was saved, because you are no longer signed in.": (
        "Es wurde nichts gespeichert, weil du nicht mehr angemeldet bist."
    ),
    "You are signed in as another user": "Du bist als jemand anderes angemeldet",
    "This form was opened by another user. Nothing was saved.": (
        "Dieses Formular hat jemand anderes geöffnet. Es wurde nichts gespeichert."
    ),
    "Sign in again, and the form comes back as you filled it in. It is kept for one hour, without passwords.": (
        "Melde dich wieder an, dann ist das Formular da, wie du es ausgefüllt hast. Es wird eine Stunde aufbewahrt, "
        "ohne Passwörter."
    ),
    "If that user signs in within one hour, the form comes back filled in.": (
        "Wenn diese Person sich innerhalb einer Stunde anmeldet, ist das Formular wieder ausgefüllt da."
    ),
    "Sign in as another user": "Als jemand anderes anmelden",
    "This is the form as you filled it in before you signed in again. It isn't saved yet.": (
        "Das ist das Formular, wie du es vor der Anmeldung ausgefüllt hast. Es ist noch nicht gespeichert."
    ),
    "This form is no longer available. Nothing was saved.": (
        "Dieses Formular gibt es nicht mehr. Es wurde nichts gespeichert."
    ),
    "Nothing was saved, but this page has what you entered. Send it again later.": (
        "Es wurde nichts gespeichert, aber deine Eingaben sind noch da. Sende sie später noch einmal."
    ),
    "This page has what you entered. You can send it again: it is saved once, even if both succeed.": (
        "Deine Eingaben sind noch da. Du kannst sie noch einmal senden: Gespeichert wird nur einmal, "
        "auch wenn beides gelingt."
    ),
    "Nothing was saved. Your browser still has what you entered: go back to change it and send it again.": (
        "Es wurde nichts gespeichert. Dein Browser hat deine Eingaben noch: "
        "Geh zurück, ändere sie und sende sie noch einmal."
    ),
    "This took too long": "Das hat zu lange gedauert",
    "You filled in a form that wasn't saved:": "Du hast ein Formular ausgefüllt, das nicht gespeichert wurde:",
    "Discard it": "Verwerfen",
    "Form discarded": "Formular verworfen",
    "Continue with it": "Damit weitermachen",
    "Send again": "Noch einmal senden",
    "You don't have access": "Kein Zugriff",
    "Not found": "Nicht gefunden",
    "Method not allowed": "Methode nicht erlaubt",
    "This can't be done": "Das ist nicht möglich",
    "This was changed in the meantime": "Inzwischen geändert",
    "Too large": "Zu groß",
    "Some values aren't valid": "Einige Angaben sind ungültig",
    "Too many requests": "Zu viele Anfragen",
    "Something went wrong": "Etwas ist schiefgegangen",
    "Temporarily unavailable": "Vorübergehend nicht verfügbar",
    "This form has expired": "Dieses Formular ist abgelaufen",
    "This form was rejected": "Dieses Formular wurde abgelehnt",
    "You need to be signed in to do this.": "Dafür musst du angemeldet sein.",
    "Authentication required: send a bearer token.": "Bitte anmelden.",
    "You don't have permission to do this.": "Dafür hast du keine Berechtigung.",
    "Page not found.": "Diese Seite gibt es nicht.",
    "There is nothing at this address.": "Diese Seite gibt es nicht.",
    "Not found.": "Nicht gefunden.",
    "{thing} not found.": "Nicht gefunden.",
    "Another {thing} already uses this {label}.": "Diese Angabe ist schon vergeben.",
    "This {thing} already exists.": "Das gibt es schon.",
    "Can't delete this {thing}: at least one {other} refers to it.": (
        "Das wird noch verwendet und kann nicht gelöscht werden."
    ),
    "The last {thing} can't be removed.": "Mindestens einer muss bleiben.",
    "The same request is still in progress. Try again in a moment.": (
        "Diese Anfrage wird noch ausgeführt. Bitte gleich noch einmal versuchen."
    ),
    "This was done already. Its result is shown only once: do it again if you missed it.": (
        "Das ist schon geschehen. Das Ergebnis wird nur einmal gezeigt: Falls es nicht da war, bitte noch einmal."
    ),
    "An idempotency key has at most {most} characters.": "Die Anfrage konnte nicht gelesen werden.",
    "The request couldn't be read.": "Die Anfrage konnte nicht gelesen werden.",
    "Allowed methods: {methods}.": "Erlaubte Methoden: {methods}.",
    "This was changed since you loaded it. Load it again.": (
        "Der Inhalt wurde inzwischen geändert. Bitte neu laden und noch einmal versuchen."
    ),
    "This was changed in the meantime. Load it again and retry.": (
        "Der Inhalt wurde inzwischen geändert. Bitte neu laden und noch einmal versuchen."
    ),
    "This is more than can be stored at once.": "Das ist zu groß zum Speichern.",
    "This is more than can be sent at once: at most {most}.": "Auf einmal können höchstens {most} gesendet werden.",
    "The body took too long.": "Die Anfrage kam nicht vollständig an.",
    "This form was sent from another site.": "Dieses Formular wurde von einer anderen Website gesendet.",
    "This form has expired. Check what you entered and send it again.": (
        "Dieses Formular ist abgelaufen. Prüfe deine Eingaben und sende es noch einmal."
    ),
    "This sign-in was started in another browser, or has expired. Sign in again.": (
        "Diese Anmeldung wurde in einem anderen Browser begonnen oder ist abgelaufen. Bitte erneut anmelden."
    ),
    "This response doesn't belong to your sign-in. Sign in again.": (
        "Diese Antwort gehört nicht zu deiner Anmeldung. Bitte erneut anmelden."
    ),
    "The identity provider refused to sign you in.": "Der Anmeldedienst hat die Anmeldung abgelehnt.",
    "The sign-in wasn't completed in time. Sign in again.": (
        "Die Anmeldung hat zu lange gedauert. Bitte erneut anmelden."
    ),
    "Signing in isn't possible right now. Try again in a moment.": (
        "Die Anmeldung ist gerade nicht möglich. Bitte gleich noch einmal versuchen."
    ),
    "Too many requests.": "Zu viele Anfragen.",
    "Too many requests: you may send {most} a minute. Try again in {seconds} seconds.": (
        "Du hast zu viele Anfragen gesendet, höchstens {most} pro Minute sind möglich. "
        "Bitte in {seconds} Sekunden noch einmal versuchen."
    ),
    "Too many requests from your network address: it may send {most} a minute. Try again in {seconds} seconds.": (
        "Von deiner Netzwerkadresse kommen zu viele Anfragen, höchstens {most} pro Minute sind möglich. "
        "Bitte in {seconds} Sekunden noch einmal versuchen."
    ),
    "Too many of these requests from your network address: it may send {most} a minute. Try again in {time} seconds.": (
        "Von deiner Netzwerkadresse kommen zu viele dieser Anfragen, höchstens {most} pro Minute sind möglich. "
        "Bitte in {time} Sekunden noch einmal versuchen."
    ),
    "{what} Try again in 1 second.": "Bitte in einer Sekunde noch einmal versuchen.",
    "{what} Try again in {seconds} seconds.": "Bitte in {seconds} Sekunden noch einmal versuchen.",
    "The service is busy. Try again in a moment.": "Der Dienst ist ausgelastet. Bitte gleich noch einmal versuchen.",
    "The request timed out. It may still be completed.": (
        "Die Anfrage hat zu lange gedauert. Sie wird vielleicht noch ausgeführt."
    ),
    "Something went wrong on our side.": "Bei uns ist ein Fehler aufgetreten.",
    "Some values aren't valid.": "Einige Angaben sind ungültig.",
    "This cursor isn't valid for this list. Start without one.": "Diese Seite gehört zu einer anderen Liste.",
}
_VALUES = {
    "Required.": "Pflichtfeld.",
    "Enter a whole number.": "Bitte eine ganze Zahl eingeben.",
    "Enter a number.": "Bitte eine Zahl eingeben.",
    "Choose yes or no.": "Bitte Ja oder Nein wählen.",
    "Enter a date.": "Bitte ein Datum eingeben.",
    "“": "„",
    "”": "“",
    "Enter a date and a time.": "Bitte Datum und Uhrzeit eingeben.",
    "Enter a time.": "Bitte eine Uhrzeit eingeben.",
    "Enter a valid e-mail address.": "Bitte eine gültige E-Mail-Adresse eingeben.",
    "Enter an e-mail address with a complete domain, such as name@example.org.": (
        "Bitte eine E-Mail-Adresse mit vollständiger Domain eingeben, zum Beispiel name@example.org."
    ),
    "Enter an e-mail address whose domain has no part of more than 63 characters.": (
        "Bitte eine E-Mail-Adresse eingeben, deren Domain keinen Teil mit mehr als 63 Zeichen hat."
    ),
    "Enter an e-mail address that doesn't mix letters of different alphabets.": (
        "Bitte eine E-Mail-Adresse ohne Buchstaben aus verschiedenen Alphabeten eingeben."
    ),
    "Enter a valid {label}.": "Bitte einen gültigen Wert eingeben.",
    "Unknown field.": "Unbekanntes Feld.",
    "Enter a time between 1900 and 2200.": "Bitte eine Zeit zwischen 1900 und 2200 eingeben.",
    "Use at least {least} characters.": "Bitte mindestens {least} Zeichen eingeben.",
    "Use at most {most} characters.": "Bitte höchstens {most} Zeichen eingeben.",
    "Choose at least {least}.": "Bitte mindestens {least} auswählen.",
    "Choose at most {most}.": "Bitte höchstens {most} auswählen.",
    "Enter {most} or less.": "Bitte höchstens {most} eingeben.",
    "Enter less than {most}.": "Bitte weniger als {most} eingeben.",
    "Enter {least} or more.": "Bitte mindestens {least} eingeben.",
    "Enter more than {least}.": "Bitte mehr als {least} eingeben.",
    "Choose one of: {choices}.": "Bitte eines davon wählen: {choices}.",
    "Use one line, without line breaks or control characters.": "Bitte in einer Zeile schreiben, ohne Steuerzeichen.",
    "This contains invisible characters ({characters}). Type it again, or paste it as plain text.": (
        "Hier sind unsichtbare Zeichen enthalten ({characters}). Bitte neu eintippen oder als reinen Text einfügen."
    ),
    "A link starts with https://, http:// or mailto:.": "Ein Link beginnt mit https://, http:// oder mailto:.",
    "The address of an image starts with https:// or http://.": (
        "Die Adresse eines Bildes beginnt mit https:// oder http://."
    ),
    "Use at least one visible character.": "Bitte mindestens ein sichtbares Zeichen eingeben.",
    "This username is reserved. Choose another one.": "Dieser Benutzername ist reserviert. Bitte einen anderen wählen.",
    "The item has {size} bytes, more than {most}. Shorten this value, the largest.": (
        "Das ist zu groß zum Speichern: {size} Bytes, höchstens {most} sind möglich. Bitte diesen Wert kürzen."
    ),
    "This text isn't valid Unicode: it contains a lone surrogate.": "Der Text ist kein gültiges Unicode.",
    "This value is too long for a key.": "Bitte einen kürzeren Wert eingeben.",
    "This value is too long: a key with it has more than {most} bytes.": "Bitte einen kürzeren Wert eingeben.",
    "The values don't go together.": "Diese Angaben passen nicht zusammen.",
}
_EDITORS = {
    "{Noun} created": "{Noun} angelegt",
    "{Noun} saved": "{Noun} gespeichert",
    "{Noun} saved as a draft": "{Noun} als Entwurf gespeichert",
    "{Noun} published": "{Noun} veröffentlicht",
    "{Noun} unpublished": "{Noun} zurückgezogen",
    "{Noun} deleted": "{Noun} gelöscht",
    "Add {noun}": "{noun} anlegen",
    "Edit {name}": "{name} bearbeiten",
    "Save {noun}": "Speichern",
    "Delete {noun} “{name}”?": "{Noun} „{name}“ löschen?",
    "Delete {noun}": "{noun} löschen",
    "Save and publish": "Speichern und veröffentlichen",
    "Preview": "Vorschau",
    "View page": "Seite ansehen",
    "Cancel": "Abbrechen",
    "Draft": "Entwurf",
    "Nothing here yet.": "Noch nichts vorhanden.",
    "There is nothing to choose from yet.": "Es gibt noch nichts zur Auswahl.",
    "This can't be undone.": "Das lässt sich nicht rückgängig machen.",
    "This was changed in the meantime.": "Der Inhalt wurde inzwischen geändert.",
}
_NEWER = {
    "This was changed in the meantime. What you entered isn't saved yet.": (
        "Der Inhalt wurde inzwischen geändert. Deine Eingaben sind noch nicht gespeichert."
    ),
    "This was changed in the meantime. Check what it is now, and try again if you still want to.": (
        "Der Inhalt wurde inzwischen geändert. Bitte prüfe den jetzigen Stand, und versuche es dann noch einmal."
    ),
    "changed by somebody else. The form has the newer value.": (
        "von jemand anderem geändert. Das Formular enthält den neuen Wert."
    ),
    "changed by somebody else, too. The newer value is beside yours.": (
        "auch von jemand anderem geändert. Der neue Wert steht neben deinem."
    ),
    "If you save now, what the form has replaces the newer version.": (
        "Wenn du jetzt speicherst, ersetzt das Formular den neuen Stand."
    ),
    "The fields of this form weren't changed: you can save them now.": (
        "Die Felder dieses Formulars wurden nicht geändert: Du kannst sie jetzt speichern."
    ),
    "Discard what you entered": "Eingaben verwerfen",
    "Discard the form?": "Das Formular verwerfen?",
    "Discard the form “{called}”?": "Das Formular „{called}“ verwerfen?",
    "Discard form": "Formular verwerfen",
    "What you entered in it is deleted.": "Deine Eingaben darin werden gelöscht.",
    "Try again": "Noch einmal versuchen",
    "Upload canceled": "Upload abgebrochen",
    "Changed by somebody else: this is the newer value.": "Von jemand anderem geändert: Das ist der neue Wert.",
    "Newer value:": "Neuer Wert:",
    "Empty": "Leer",
    "Yes": "Ja",
    "No": "Nein",
}
_UPLOADS = {
    "This upload was already used, or has expired. Upload the file again.": (
        "Dieses Bild wurde schon hinzugefügt, oder der Upload ist abgelaufen. Bitte erneut hochladen."
    ),
    "The file hasn't been uploaded yet.": "Das Bild wurde noch nicht hochgeladen.",
    "The file was uploaded again in the meantime. Confirm it again.": (
        "Das Bild wurde inzwischen noch einmal hochgeladen. Bitte erneut hinzufügen."
    ),
    "The upload took too long. Start a new one.": "Das Hochladen hat zu lange gedauert. Bitte neu beginnen.",
    "No data arrived for {seconds} seconds.": "Die Datei kam nicht vollständig an. Bitte noch einmal hochladen.",
    "The connection was closed before the form was complete.": (
        "Die Datei kam nicht vollständig an. Bitte noch einmal hochladen."
    ),
    "The form ends before its last boundary.": "Die Datei kam nicht vollständig an. Bitte noch einmal hochladen.",
    "The form can't be read: {reason}.": "Das Formular konnte nicht gelesen werden.",
    "The form has more than {most} bytes besides the file.": "Das Formular konnte nicht gelesen werden.",
    "The policy can't be read.": "Das Formular konnte nicht gelesen werden.",
    "The form's signature isn't valid.": "Dieses Formular ist nicht gültig. Bitte neu beginnen.",
    "The form is signed for a different upload.": "Dieses Formular ist nicht gültig. Bitte neu beginnen.",
    "Invalid according to policy: the policy expired. Start a new upload.": (
        "Der Upload ist abgelaufen. Bitte neu beginnen."
    ),
    "Invalid according to policy: {reason}.": "Dieses Formular ist nicht gültig. Bitte neu beginnen.",
    "Uploads aren't accepted here.": "Hier werden keine Dateien angenommen.",
    "File storage can't be reached right now. Try again in a moment.": (
        "Dateien können gerade nicht gespeichert werden. Bitte gleich noch einmal versuchen."
    ),
    "The range starts after the end of the file.": "Dieser Teil der Datei existiert nicht.",
    "Upload not found or expired. Start a new one.": "Der Upload ist abgelaufen. Bitte noch einmal hochladen.",
    "The file is larger than {most}.": "Die Datei ist größer als {most}.",
    "The picture has more than {most} megapixels. Make it smaller and upload it again.": (
        "Das Bild hat mehr als {most} Megapixel. Bitte verkleinern und erneut hochladen."
    ),
    "The animation is too long. Make it shorter or smaller.": (
        "Die Animation ist zu lang. Bitte kürzen oder verkleinern."
    ),
    "The file has more in it than a picture. Save the picture again in another program and upload the new file.": (
        "Die Datei enthält mehr als ein Bild. Bitte mit einem anderen Programm neu speichern und erneut hochladen."
    ),
    "There is HTML in the picture. Save the picture again in another program and upload the new file.": (
        "Das Bild enthält HTML. Bitte mit einem anderen Programm neu speichern und erneut hochladen."
    ),
    "The picture takes too long to decode. Save the picture again in another program and upload the new file.": (
        "Das Bild lässt sich nicht lesen. Bitte mit einem anderen Programm neu speichern und erneut hochladen."
    ),
    "The picture is damaged or incomplete. Save the picture again in another program and upload the new file.": (
        "Das Bild ist beschädigt oder unvollständig. Bitte neu speichern und erneut hochladen."
    ),
    "Too many pictures are being checked right now. Try again in a moment.": (
        "Gerade werden zu viele Bilder geprüft. Bitte gleich noch einmal versuchen."
    ),
    "You have {number} unfinished {uploads}. Finish one of them, or try again in {minutes} minute.": (
        "{number} Uploads sind noch nicht abgeschlossen. Bitte einen abschließen oder in einer Minute neu versuchen."
    ),
    "You have {number} unfinished {uploads}. Finish one of them, or try again in {minutes} minutes.": (
        "{number} Uploads sind noch nicht abgeschlossen. Bitte einen abschließen oder in {minutes} Minuten neu "
        "versuchen."
    ),
    "The file is larger than {limit}, which is the most that you may upload at once.": (
        "Die Datei ist größer als {limit}. Mehr kann nicht auf einmal hochgeladen werden."
    ),
    "Your unfinished uploads may have up to {limit}. Finish one of them, or try again in {minutes} minute.": (
        "Nicht abgeschlossene Uploads dürfen zusammen {limit} groß sein. Bitte einen abschließen oder in einer Minute "
        "neu versuchen."
    ),
    "Your unfinished uploads may have up to {limit}. Finish one of them, or try again in {minutes} minutes.": (
        "Nicht abgeschlossene Uploads dürfen zusammen {limit} groß sein. Bitte einen abschließen oder in {minutes} "
        "Minuten neu versuchen."
    ),
    "Your pictures use {used} of {most}. Delete pictures that you no longer need, and try again.": (
        "Deine Bilder belegen {used} von {most}. Bitte Bilder löschen, die nicht mehr gebraucht werden."
    ),
    "The file is empty.": "Die Datei ist leer.",
    "The file is damaged, or isn't {expected}.": "Die Datei ist beschädigt oder kein {expected}.",
    "The file is {found}, but {expected} was expected.": "Die Datei ist {found}, erwartet wurde {expected}.",
    "This file type isn't supported. Upload {types} or {last}.": (
        "Dieser Dateityp wird nicht unterstützt. Erlaubt sind {types} und {last}."
    ),
    "This file type isn't supported. Upload {type}.": "Dieser Dateityp wird nicht unterstützt. Erlaubt ist {type}.",
}
_MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()


def german_day(value: date) -> str:
    """A day as people write it in German: 1. Mai 2026."""
    return f"{value.day}. {_MONTHS[value.month - 1]} {value.year}"


GERMAN = Language("de", {**_PAGES, **_PROBLEMS, **_VALUES, **_EDITORS, **_NEWER, **_UPLOADS}, german_day)
"""German, with everything that the kit says."""
