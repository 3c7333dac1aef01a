"""The club's words, and what its rules say, in German. The kit has German for what it says itself."""

from keyplan.web import GERMAN as GERMAN_OF_KIT

_WORDS = {
    "For example: alice": "Zum Beispiel: mona",
    "Optional. Separate groups with spaces, for example: admin editor": (
        "Optional. Gruppen durch Leerzeichen trennen, zum Beispiel: Moderator"
    ),
    "Enter a valid phone.": "Bitte eine gültige Telefonnummer eingeben.",
    "A link begins with https://, http:// or mailto:.": "Ein Link beginnt mit https://, http:// oder mailto:.",
    "Choose one of: 'men', 'woman' or 'mixed'.": "Bitte Frauen, Männer oder Mixed wählen.",
    "Editing": "Redaktion",
    "article": "News",
    "News": "News",
    "event": "Termin",
    "Events": "Termine",
    "team": "Team",
    "Teams": "Teams",
    "member": "Mitglied",
    "Members": "Mitglieder",
    "sponsor": "Sponsor",
    "Sponsors": "Sponsoren",
    "role": "Rolle",
    "Roles": "Rollen",
    "location": "Ort",
    "Locations": "Orte",
}
_FIELDS = {
    "Title": "Titel",
    "Text": "Text",
    "Excerpt": "Kurztext",
    "If empty, the beginning of the text is used.": "Wenn leer: der Anfang des Textes.",
    "Publish from": "Veröffentlichen ab",
    "If empty, from now on.": "Wenn leer: ab sofort.",
    "Images": "Bilder",
    "Images beside the text": "Bilder neben dem Text",
    "Markdown: ## heading, **bold**, *italic*, [link](https://…), - list, ![image](media:ID).": (
        "Markdown: ## Überschrift, **fett**, *kursiv*, [Link](https://…), - Liste, ![Bild](media:ID)."
    ),
    "Start": "Beginn",
    "End": "Ende",
    "At most 31 days after the start.": "Höchstens 31 Tage nach dem Beginn.",
    "Description": "Beschreibung",
    "Address": "Adresse",
    "Place": "Ort",
    "Street": "Straße",
    "Postal code": "Postleitzahl",
    "City": "Stadt",
    "Name": "Name",
    "Players": "Wer spielt",
    "Minimum age": "Mindestalter",
    "League": "Liga",
    "SAMS ID": "SAMS-ID",
    "File with clubs and teams, as JSON": "Datei mit clubs und teams, als JSON",
    "What isn't in it is removed.": "Was nicht darin steht, wird entfernt.",
    "Remove more than a fifth, too": "Auch mehr als ein Fünftel entfernen",
    "Instagram": "Instagram",
    "Without the @.": "Ohne @.",
    "Coaches": "Trainerinnen und Trainer",
    "Contacts": "Ansprechpersonen",
    "Training times": "Trainingszeiten",
    "Training {number}, place": "Training {number}, Ort",
    "Training {number}, day": "Training {number}, Tage",
    "Training {number}, start": "Training {number}, Beginn",
    "Training {number}, end": "Training {number}, Ende",
    "No training": "Kein Training",
    "E-mail address": "E-Mail-Adresse",
    "Phone": "Telefon",
    "Show e-mail address and phone": "E-Mail-Adresse und Telefon zeigen",
    "Everybody sees them with the teams that they coach or speak for.": (
        "Alle sehen sie bei den Teams, die das Mitglied trainiert oder als Ansprechperson betreut."
    ),
    "Picture": "Bild",
    "Website": "Website",
    "Logo": "Logo",
    "Last day": "Letzter Tag",
    "If empty, the sponsor stays.": "Wenn leer: ohne Ende.",
    "For people who don't see the image.": "Für alle, die das Bild nicht sehen.",
    "Version": "Stand",
}
_RULES = {
    "Article not found.": "Diese News gibt es nicht.",
    "Event not found.": "Diesen Termin gibt es nicht.",
    "Team not found.": "Dieses Team gibt es nicht.",
    "Member not found.": "Dieses Mitglied gibt es nicht.",
    "Media item not found.": "Dieses Bild gibt es nicht.",
    "Sponsor not found.": "Diesen Sponsor gibt es nicht.",
    "Role not found.": "Diese Rolle gibt es nicht.",
    "Location not found.": "Diesen Ort gibt es nicht.",
    "Club not found.": "Diesen Verein gibt es nicht.",
    "The event ends before it starts. Enter a later end.": (
        "Der Termin endet, bevor er beginnt. Bitte ein späteres Ende eingeben."
    ),
    "An event can last 31 days at most. Enter an earlier end.": (
        "Ein Termin kann höchstens 31 Tage dauern. Bitte ein früheres Ende eingeben."
    ),
    "Choose at least one day of the week.": "Bitte mindestens einen Wochentag wählen.",
    "The training ends before it starts. Enter a later end.": (
        "Das Training endet, bevor es beginnt. Bitte ein späteres Ende eingeben."
    ),
    "This is in the past. Enter a later time, or delete the sponsor.": (
        "Dieser Tag ist schon vorbei. Bitte einen späteren eingeben oder den Sponsor löschen."
    ),
    "Can't delete this media item: {reason}": "Dieses Bild wird noch verwendet und kann nicht gelöscht werden.",
    "Can't delete this role: {reason}": "Diese Rolle haben noch Mitglieder. Sie kann nicht gelöscht werden.",
    "Can't delete this location: {reason}": "An diesem Ort trainiert noch ein Team. Er kann nicht gelöscht werden.",
    "Use at most {most} images, in the text and beside it.": (
        "Bitte höchstens {most} Bilder verwenden, im Text und daneben."
    ),
    "The file isn't valid JSON.": "Die Datei enthält kein gültiges JSON.",
    "Two entries have the same id.": "Zwei Einträge haben dieselbe ID.",
    "This removes {gone} of {stored} clubs. Set removeMany to confirm.": (
        "{gone} von {stored} Vereinen würden entfernt. Bitte bestätigen."
    ),
    "This removes {gone} of {stored} teams. Set removeMany to confirm.": (
        "{gone} von {stored} Teams würden entfernt. Bitte bestätigen."
    ),
}
_TEXTS = {
    "The text can't be read.": "Der Text kann nicht gelesen werden.",
    "The text nests more than {most} levels deep, which can't be stored.": (
        "Der Text ist tiefer als {most} Ebenen verschachtelt und kann nicht gespeichert werden."
    ),
    "The text has {size} bytes. At most {most} can be stored.": (
        "Der Text hat {size} Bytes. Höchstens {most} können gespeichert werden."
    ),
    "The text isn't valid Unicode.": "Der Text ist kein gültiges Unicode.",
    "The attribute 'mediaId' is required.": "Einem Bild im Text fehlt seine ID.",
    "This isn't the id of a media item.": "Ein Bild im Text hat keine gültige ID.",
    "Use at most 500 characters.": "Bitte höchstens 500 Zeichen eingeben.",
}
GERMAN = GERMAN_OF_KIT.with_words({**_WORDS, **_FIELDS, **_RULES, **_TEXTS})
