-- Each labelled picture with its article, and a question of its category.
WITH located AS (
    SELECT
        urls.image_id, urls.image_url, ledger.status, ledger.width, ledger.height, ledger.sha256,
        ledger.upstream_sha256,
        url_decode(regexp_extract(urls.image_url, '[^/]+$')) AS name
    FROM urls
    INNER JOIN ledger ON urls.image_url = ledger.image_url
),

pictures AS (
    SELECT
        * EXCLUDE (status, upstream_sha256),
        CASE
            WHEN min(upstream_sha256) OVER same_name <> max(upstream_sha256) OVER same_name
                THEN 'ambiguous_picture'
            ELSE status
        END AS status
    FROM located
    WINDOW same_name AS (PARTITION BY name)
    QUALIFY row_number() OVER (PARTITION BY name ORDER BY image_url) = 1
),

category_questions AS (
    SELECT each.category, list(each.question ORDER BY each.question) AS questions
    FROM unnest($questions) AS template (each)
    GROUP BY each.category
),

candidates AS (
    SELECT
        labelled.*, pictures.* EXCLUDE (name), projection.text_id,
        coalesce(own_category.questions, any_category.questions) AS questions
    FROM labelled
    LEFT JOIN pictures ON labelled.picture = pictures.name
    LEFT JOIN projection ON labelled.label = projection.source_text_id
    LEFT JOIN category_questions AS own_category ON labelled.category = own_category.category
    LEFT JOIN category_questions AS any_category ON any_category.category = '*'
)

SELECT
    * EXCLUDE (questions),
    -- The draw depends on the picture alone, so that more pictures change no question.
    questions[1 + (('0x' || md5(picture)[1:7])::INTEGER % len(questions))::INTEGER] AS question,
    CASE
        WHEN text_id IS NULL THEN NULL
        WHEN list_contains($unseen_categories, category) THEN 'unseen'
        WHEN ('0x' || md5($seed || ' ' || text_id)[1:7])::INTEGER < $unseen_share * 268435456
            THEN 'unseen'
        ELSE 'seen'
    END AS seen
FROM candidates
ORDER BY file, row
