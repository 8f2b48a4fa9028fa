WITH judged AS (
    SELECT DISTINCT
        image_id,
        split
    FROM qrels
),

-- One entry per language and wording, in the order of WIT.
captions AS (
    SELECT
        image_url,
        language,
        coalesce(caption_reference_description, '') AS reference,
        coalesce(caption_alt_text_description, '') AS alt_text,
        coalesce(caption_attribution_description, '') AS attribution,
        min(mime_type) AS mime_type,
        min((file, row)) AS seen
    FROM associations
    GROUP BY ALL
),

described AS (
    SELECT
        image_url,
        list(language ORDER BY language, seen) AS languages,
        list(reference ORDER BY language, seen) AS reference,
        list(alt_text ORDER BY language, seen) AS alt_text,
        list(attribution ORDER BY language, seen) AS attribution,
        min(mime_type) AS mime_type
    FROM captions
    GROUP BY image_url
)

SELECT
    urls.image_id,
    urls.image_url,
    described.languages AS language,
    described.reference AS caption_reference_description,
    described.alt_text AS caption_alt_text_description,
    described.attribution AS caption_attribution_description,
    described.mime_type,
    ledger.width,
    ledger.height,
    ledger.sha256,
    coalesce(judged.split, 'other') AS split
FROM described
INNER JOIN urls ON described.image_url = urls.image_url
INNER JOIN ledger ON described.image_url = ledger.image_url AND ledger.status = 'success'
LEFT JOIN judged ON urls.image_id = judged.image_id
ORDER BY urls.image_id
