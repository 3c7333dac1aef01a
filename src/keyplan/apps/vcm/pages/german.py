"""What the kit and the rules say, in German."""

from keyplan.web import Language

_KIT = {
    "Skip to the content": "Zum Inhalt",
    "Sign in": "Anmelden",
    "Sign in again": "Noch einmal anmelden",
    "Sign out": "Abmelden",
    "All systems": "Alle Systeme",
    "Pages": "Seiten",
    "First page": "Erste Seite",
    "Next page": "Nächste Seite",
    "To the front page": "Zur Startseite",
    "request": "Anfrage",
    "Who do you want to be?": "Wer möchtest du sein?",
    "This server runs for development: one signs in by saying who one is. It listens on this machine only.": (
        "Dieser Server läuft zum Entwickeln: Wer sich anmeldet, sagt nur, wer er ist. Er ist nur auf diesem Rechner zu "
        "erreichen."
    ),
    "Somebody else": "Jemand anderes",
    "Subject": "Kennung",
    "The name that the system knows you by, such as alice.": "Der Name, unter dem das System dich kennt, etwa mona.",
    "Groups": "Gruppen",
    "Separated by spaces, such as admin. None is fine.": "Mit Leerzeichen getrennt, etwa Moderator. Es geht auch ohne.",
    "You are signed in as {name}.": "Du bist als {name} angemeldet.",
    "You are signed out.": "Du bist abgemeldet.",
    "This has to be mended first:": "Das ist noch nicht richtig:",
    "That did not work:": "Das ging nicht:",
}
_PROBLEMS = {
    "That could not be read": "Das konnte nicht gelesen werden",
    "Sign in first": "Melde dich an",
    "Your session is over": "Deine Sitzung ist zu Ende",
    "What you typed": "Was du geschrieben hast",
    "It was not saved. Copy it, sign in, and put it in again.": (
        "Es wurde nicht gespeichert. Kopiere es, melde dich an und füge es wieder ein."
    ),
    "This is not for you": "Das ist nichts für dich",
    "Not found": "Nicht gefunden",
    "Not like this": "So geht es nicht",
    "That can not be done now": "Das geht gerade nicht",
    "It was changed meanwhile": "Es wurde inzwischen geändert",
    "That is too much": "Das ist zu viel",
    "That is not right": "Das stimmt so nicht",
    "Slow down, please": "Bitte etwas langsamer",
    "Something went wrong": "Da ging etwas schief",
    "Try again in a moment": "Gleich noch einmal",
    "This form can not be taken": "Dieses Formular kann nicht angenommen werden",
    "That did not work": "Das ging nicht",
    "This is for people who are signed in.": "Das ist für Angemeldete.",
    "Sign in: send a bearer token.": "Melde dich an.",
    "You may not do this.": "Das darfst du nicht.",
    "There is no such page.": "Diese Seite gibt es nicht.",
    "There is no such thing here.": "Das gibt es hier nicht.",
    "The request could not be read.": "Die Anfrage konnte nicht gelesen werden.",
    "Here one can only: {methods}.": "Hier geht nur: {methods}.",
    "It was changed since. Read it again.": "Es wurde inzwischen geändert.",
    "It was changed meanwhile, so that this can not be done.": "Es wurde inzwischen geändert, so geht das nicht mehr.",
    "It is more than can be stored at once.": "Das ist mehr, als auf einmal gespeichert werden kann.",
    "The body is longer than {most} bytes.": "Das ist mehr als {most} Bytes.",
    "This form was sent by another site.": "Dieses Formular kam von einer anderen Seite.",
    "This form is too old, or was not made for you. Go back, load the page again and send it.": (
        "Dieses Formular ist zu alt oder war nicht für dich. Geh zurück, lade die Seite neu und sende es noch einmal."
    ),
    "This sign-in was begun elsewhere, or too long ago. Begin again.": (
        "Diese Anmeldung wurde anderswo oder vor zu langer Zeit begonnen. Beginne noch einmal."
    ),
    "This is not the answer to your sign-in. Begin again.": "Das gehört nicht zu deiner Anmeldung. Beginne neu.",
    "You were not signed in: the one who was to know you has refused.": "Du wurdest dort nicht angemeldet.",
    "The sign-in was not completed in time. Begin again.": "Die Anmeldung hat zu lange gedauert. Beginne noch einmal.",
    "One can not sign in just now. Try again in a moment.": "Anmelden geht gerade nicht. Versuche es gleich neu.",
    "{what} Try again in {seconds} s.": "Versuche es in {seconds} s noch einmal.",
    "Busy. Try again in a moment.": "Versuche es gleich noch einmal.",
    "It took too long, and may still be done.": "Es hat zu lange gedauert und geschieht vielleicht noch.",
    "Something went wrong on our side.": "Das lag an uns.",
    "Some values are not valid.": "Einige Angaben stimmen nicht.",
    "It was not made for this list. Begin without one.": "Das gehört nicht zu dieser Liste.",
}
_VALUES = {
    "This is needed.": "Das wird gebraucht.",
    "This is not a whole number.": "Das ist keine ganze Zahl.",
    "This is not a number.": "Das ist keine Zahl.",
    "This is neither yes nor no.": "Das ist weder ja noch nein.",
    "This is not a date.": "Das ist kein Datum.",
    "This is not a date and time.": "Das ist kein Datum mit Uhrzeit.",
    "This is not a time.": "Das ist keine Uhrzeit.",
    "This is not written as it has to be.": "Das ist nicht so geschrieben, wie es sein muss.",
    "There is no such field.": "Dieses Feld gibt es nicht.",
    "A link begins with https://, http:// or mailto:.": "Ein Link beginnt mit https://, http:// oder mailto:.",
    "A time is between 1900 and 2200.": "Eine Zeit liegt zwischen 1900 und 2200.",
    "String should have at most {most} characters.": "Das sind höchstens {most} Zeichen.",
    "List should have at most {most} items after validation, not {many}.": "Das sind höchstens {most}, nicht {many}.",
    "Input should be less than or equal to {most}.": "Das ist höchstens {most}.",
    "Input should be greater than or equal to {least}.": "Das ist mindestens {least}.",
    "Input should be 'men', 'woman' or 'mixed'.": "Das ist Frauen, Männer oder Mixed.",
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
