-- Captions of images, and their tokens as CIDEr counts them: runs of letters, marks and digits in
-- lower case, with the apostrophes inside. Scripts without spaces between words (Han, kana, Thai,
-- Lao, Khmer, Burmese) give one token a character with its marks, and have no count of words.
WITH captions AS (
    SELECT qrels.text_id, qrels.image_id, texts.language, context_section_description AS caption
    FROM qrels INNER JOIN texts USING (text_id)
),

spaced AS (
    SELECT
        *,
        regexp_replace(
            lower(nfc_normalize(caption)),
            '([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー〆]\p{M}*)',
            ' \1 ', 'g'
        ) AS apart
    FROM captions
),

counted AS (
    SELECT
        *,
        regexp_extract_all(
            apart,
            '[\p{L}\p{M}\p{N}\x{200c}\x{200d}]+([''’´ʼ][\p{L}\p{M}\p{N}\x{200c}\x{200d}]+)*'
        ) AS tokens,
        len(regexp_extract_all(caption, '\S+'))::INT AS words
    FROM spaced
)

SELECT
    text_id, image_id, language, len(caption)::INT AS characters,
    CASE WHEN len(apart) = len(nfc_normalize(caption)) THEN words END AS words, tokens
FROM counted
ORDER BY language ASC, image_id ASC, text_id ASC
