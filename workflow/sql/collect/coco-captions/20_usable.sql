-- Pictures of a split with pixels and a caption.
SELECT * FROM pictures
WHERE
    has_pixels AND split IS NOT NULL AND NOT is_in_two AND NOT is_again
    AND id IN (SELECT sentences.picture FROM sentences WHERE sentences.sentence <> '')
ORDER BY image_id
