-- Attribution and licence of an image, by its attribution captions, and the page of its file.
-- ASSUME an image whose captions name no licence has an unknown one, not free to reuse; no paper
-- says: WIT gives captions, not licences.
WITH captions AS (
    SELECT
        image_id, image_url, array_to_string(list_sort(list_distinct(list_filter(
            caption_attribution_description, LAMBDA c: c IS NOT NULL AND c <> ''
        ))), ' | ') AS attribution
    FROM images
),

shortened AS ( -- "Creative Commons Attribution-Share Alike 3.0" becomes "cc-by-sa-3.0"
    SELECT
        *,
        replace(replace(lower(attribution), 'creative commons', 'cc'), 'attribution', 'by') AS cc,
        regexp_replace(regexp_replace(cc, 'no[ -]?deriv\w*', 'nd'), 'share[ -]?alike', 'sa') AS sa,
        regexp_replace(regexp_replace(sa, 'non[ -]?commercial', 'nc'), '[ _-]+', '-', 'g') AS name,
        upper(regexp_extract(name, '\bcc-by((-nc)?(-sa|-nd)?)\b', 1)) AS marks,
        regexp_extract(name, '\bcc-by[a-z-]*?-(\d\.\d)', 1) AS version
    FROM captions
)

SELECT
    image_id, image_url, coalesce(nullif(attribution, ''), 'unknown') AS attribution, CASE
        WHEN regexp_matches(name, '\bcc-?(0|zero)\b|public-domain-dedication') THEN 'CC0'
        WHEN regexp_matches(name, '\bcc-by\b') THEN trim('CC BY' || marks || ' ' || version)
        WHEN regexp_matches(name, '\bpublic-domain\b|\bpd-[a-z]') THEN 'public domain'
        WHEN regexp_matches(name, '\bgnu-free-documentation|\bgfdl\b') THEN 'GFDL'
        WHEN regexp_matches(name, '\bfair-use\b|\bnon-free\b') THEN 'fair use'
        ELSE 'unknown'
    END AS licence,
    file_page(image_url) AS file_page
FROM shortened
ORDER BY image_id
