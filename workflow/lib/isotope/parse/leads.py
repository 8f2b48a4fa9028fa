"""What the section before the first heading is called, by the language of the wiki."""

# ASSUME what these Wikipedias' own pages on layout call the lead; AToMiC is English and does not
# say: its published texts call it Introduction, and so do we in every other language.
_LEADS = {
    **{"ar": "مقدمة", "bn": "ভূমিকা", "ca": "Introducció", "cs": "Úvod", "da": "Indledning"},
    **{"de": "Einleitung", "el": "Εισαγωγή", "es": "Introducción", "fa": "مقدمه", "fi": "Johdanto"},
    **{"he": "מבוא", "hi": "परिचय", "hu": "Bevezető", "id": "Pendahuluan", "it": "Introduzione"},
    **{"ja": "導入部", "ko": "도입부", "nl": "Inleiding", "no": "Innledning", "pl": "Wstęp"},
    **{"pt": "Introdução", "ro": "Introducere", "ru": "Введение", "sv": "Inledning"},
    **{"sw": "Utangulizi", "ta": "அறிமுகம்", "te": "పరిచయం", "th": "บทนำ", "tr": "Giriş"},
    **{"uk": "Вступ", "vi": "Giới thiệu", "zh": "序言"},
}


def lead(language: str) -> str:
    """Return the name of the lead section in a wiki of this language code."""
    return _LEADS.get(language.partition("-")[0], "Introduction")
