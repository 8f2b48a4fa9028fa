-- AToMiC (SIGIR 2023), Table 2: how often a field is empty, and its tokens where it is not; a field
-- that no item has is left out.
-- `field_names` are called by `field_words`.
-- ASSUME ± is the population standard deviation, as in Table 1; the paper does not say.
SELECT
    side,
    coalesce(
        ($field_words::VARCHAR[])[list_position($field_names::VARCHAR[], tokens.field)],
        tokens.field
    ) AS field,
    tokenizer,
    count(*) AS items,
    round(avg((tokens IS NULL)::INTEGER), 6) AS empty_share,
    round(avg(tokens), 6) AS tokens_mean,
    round(stddev_pop(tokens), 6) AS tokens_sd,
    max(tokens) AS most_tokens
FROM tokens
GROUP BY side, tokens.field, tokenizer
HAVING count(tokens) > 0
ORDER BY
    side DESC,
    list_position(
        [
            'page_title', 'section_title', 'hierarchy', 'context_section_description',
            'context_page_description', 'caption_reference_description',
            'caption_alt_text_description', 'caption_attribution_description'
        ],
        tokens.field
    ) ASC,
    tokens.field ASC,
    tokenizer ASC
