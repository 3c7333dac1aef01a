"""What the kit and the rules say, in German."""

from keyplan.web import Language

_KIT = {
    "Skip to content": "Zum Inhalt springen",
    "Sign in": "Anmelden",
    "Sign in again": "Erneut anmelden",
    "Sign out": "Abmelden",
    "All systems": "Alle Systeme",
    "Pages": "Seiten",
    "First page": "Erste Seite",
    "Next page": "Nächste Seite",
    "Go to the home page": "Zur Startseite",
    "request ID": "Anfrage-ID",
    "Choose a user": "Benutzer auswählen",
    "This server runs in development mode: you can sign in as anyone. It only accepts connections from this machine.": (
        "Dieser Server läuft im Entwicklungsmodus: Du kannst dich als beliebige Person anmelden. Er ist nur von diesem "
        "Rechner aus erreichbar."
    ),
    "Another user": "Anderer Benutzer",
    "User ID": "Benutzer-ID",
    "For example: alice": "Zum Beispiel: mona",
    "Groups": "Gruppen",
    "Optional. Separate groups with spaces, for example: admin editor": (
        "Optional. Gruppen durch Leerzeichen trennen, zum Beispiel: Moderator"
    ),
    "Signed in as {name}.": "Angemeldet als {name}.",
    "Signed out.": "Abgemeldet.",
    "Fix the errors below": "Bitte die folgenden Angaben korrigieren",
    "There was a problem": "Es gab ein Problem",
}
_PROBLEMS = {
    "Bad request": "Ungültige Anfrage",
    "Sign in to continue": "Bitte anmelden",
    "Your session has expired": "Deine Sitzung ist abgelaufen",
    "What you entered": "Deine Eingaben",
    "It wasn't saved. Copy it, sign in, and paste it again.": (
        "Sie wurden nicht gespeichert. Kopiere sie, melde dich an und füge sie wieder ein."
    ),
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
    "Not found.": "Nicht gefunden.",
    "The request couldn't be read.": "Die Anfrage konnte nicht gelesen werden.",
    "Allowed methods: {methods}.": "Erlaubte Methoden: {methods}.",
    "This was changed since you loaded it. Load it again.": (
        "Der Inhalt wurde inzwischen geändert. Bitte neu laden und noch einmal versuchen."
    ),
    "This was changed in the meantime. Load it again and retry.": (
        "Der Inhalt wurde inzwischen geändert. Bitte neu laden und noch einmal versuchen."
    ),
    "This is more than can be stored at once.": "Das ist zu groß zum Speichern.",
    "The body is larger than {most} bytes.": "Die Anfrage ist größer als {most} Bytes.",
    "This form was sent from another site.": "Dieses Formular wurde von einer anderen Website gesendet.",
    "This form has expired. Go back, reload the page and submit it again.": (
        "Dieses Formular ist abgelaufen. Geh zurück, lade die Seite neu und sende es noch einmal."
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
    "{what} Try again in 1 second.": "Bitte in einer Sekunde noch einmal versuchen.",
    "{what} Try again in {seconds} seconds.": "Bitte in {seconds} Sekunden noch einmal versuchen.",
    "The service is busy. Try again in a moment.": "Der Dienst ist ausgelastet. Bitte gleich noch einmal versuchen.",
    "The request timed out. It may still be completed.": (
        "Die Anfrage hat zu lange gedauert. Sie wird vielleicht noch ausgeführt."
    ),
    "Something went wrong on our side.": "Bei uns ist ein Fehler aufgetreten.",
    "Some values aren't valid.": "Einige Angaben sind ungültig.",
    "This cursor belongs to another list. Start without one.": "Diese Seite gehört zu einer anderen Liste.",
}
_VALUES = {
    "Required.": "Pflichtfeld.",
    "Enter a whole number.": "Bitte eine ganze Zahl eingeben.",
    "Enter a number.": "Bitte eine Zahl eingeben.",
    "Choose yes or no.": "Bitte Ja oder Nein wählen.",
    "Enter a date.": "Bitte ein Datum eingeben.",
    "Enter a date and a time.": "Bitte Datum und Uhrzeit eingeben.",
    "Enter a time.": "Bitte eine Uhrzeit eingeben.",
    "Enter a valid email.": "Bitte eine gültige E-Mail-Adresse eingeben.",
    "Enter a valid phone.": "Bitte eine gültige Telefonnummer eingeben.",
    "Enter a valid {label}.": "Bitte einen gültigen Wert eingeben.",
    "Unknown field.": "Unbekanntes Feld.",
    "A link begins with https://, http:// or mailto:.": "Ein Link beginnt mit https://, http:// oder mailto:.",
    "A time is between 1900 and 2200.": "Bitte eine Zeit zwischen 1900 und 2200 eingeben.",
    "Use at least {least} characters.": "Bitte mindestens {least} Zeichen eingeben.",
    "Use at most {most} characters.": "Bitte höchstens {most} Zeichen eingeben.",
    "Choose at least {least}.": "Bitte mindestens {least} auswählen.",
    "Choose at most {most}.": "Bitte höchstens {most} auswählen.",
    "Enter {most} or less.": "Bitte höchstens {most} eingeben.",
    "Enter less than {most}.": "Bitte weniger als {most} eingeben.",
    "Enter {least} or more.": "Bitte mindestens {least} eingeben.",
    "Enter more than {least}.": "Bitte mehr als {least} eingeben.",
    "Choose one of: 'men', 'woman' or 'mixed'.": "Bitte Frauen, Männer oder Mixed wählen.",
    "Choose one of: {choices}.": "Bitte eines davon wählen: {choices}.",
}
_RULES = {
    "There is no such media item.": "Dieses Bild gibt es nicht.",
    "There is no such role.": "Diese Rolle gibt es nicht.",
    "There is no such location.": "Diesen Ort gibt es nicht.",
    "There is no such member.": "Dieses Mitglied gibt es nicht.",
    "There is no such article.": "Diese News gibt es nicht.",
    "There is no such event.": "Diesen Termin gibt es nicht.",
    "There is no such team.": "Dieses Team gibt es nicht.",
    "There is no such club.": "Diesen Verein gibt es nicht.",
    "There is no such sponsor.": "Diesen Sponsor gibt es nicht.",
    "It can not be without.": "Ohne geht es nicht.",
    "An event does not end before it begins.": "Ein Termin endet nicht, bevor er beginnt.",
    "An event lasts 31 days at most.": "Ein Termin dauert höchstens 31 Tage.",
    "A training is on a day of the week.": "Ein Training ist an einem Wochentag.",
    "A training ends after it begins.": "Ein Training endet, nachdem es begonnen hat.",
    "This is over already: delete the sponsor.": "Dieser Tag ist schon vorbei: lösche den Sponsor.",
    "This media item is in use.": "Dieses Bild wird verwendet.",
    "This role is in use.": "Diese Rolle wird verwendet.",
    "This location is in use.": "An diesem Ort trainiert ein Team.",
    "There are {most} images at most, in the text and beside it.": "Höchstens {most} Bilder, im Text und daneben.",
    "This upload was added already, or is over.": "Dieses Bild wurde schon hinzugefügt.",
    "The file was not sent yet.": "Das Bild wurde noch nicht gesendet.",
    "There is no such upload, or it is over. Ask for another one.": "Das ist zu lange her. Beginne noch einmal.",
    "The file is longer than {most} bytes.": "Die Datei hat mehr als {most} Bytes.",
    "The file is empty.": "Die Datei ist leer.",
    "The file is nothing that is taken, and not {asked} as it was said to be.": "Die Datei ist kein Bild.",
    "The file is {found}, and not {asked} as it was said to be.": "Die Datei ist {found} und nicht {asked}.",
    "Only {types} are taken.": "Es gehen nur {types}.",
    "The file is not JSON.": "Die Datei ist kein JSON.",
    "Two of them have the same id.": "Zwei davon haben dieselbe Kennung.",
    "{gone} of {there} clubs would be removed. Say removeMany if this is meant.": (
        "{gone} von {there} Vereinen würden entfernt. Kreuze es an, wenn das so sein soll."
    ),
    "{gone} of {there} teams would be removed. Say removeMany if this is meant.": (
        "{gone} von {there} Teams würden entfernt. Kreuze es an, wenn das so sein soll."
    ),
}
_TEXTS = {
    "The text is no document.": "Der Text kann nicht gelesen werden.",
    "The text is nested more than {most} levels deep, which can not be stored.": (
        "Der Text ist tiefer als {most} Ebenen verschachtelt und kann nicht gespeichert werden."
    ),
    "The text has {size} bytes; at most {most} can be stored.": (
        "Der Text hat {size} Bytes; höchstens {most} können gespeichert werden."
    ),
    "The text is no Unicode.": "Der Text ist kein Unicode.",
    "The attribute 'mediaId' is needed.": "Zu einem Bild im Text fehlt, welches es ist.",
    "This is no id of a media item.": "Zu einem Bild im Text fehlt, welches es ist.",
    "This is a text of 500 characters at most.": "Das sind höchstens 500 Zeichen.",
}
GERMAN = Language("de", {**_KIT, **_PROBLEMS, **_VALUES, **_RULES, **_TEXTS})
