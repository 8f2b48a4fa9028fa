-- Images whose picture could be decoded; without a crawl all images, which their captions
-- represent.
SELECT
    known_images.image_id,
    ledger.width,
    ledger.height,
    ledger.sha256
FROM known_images
LEFT JOIN ledger ON known_images.image_url = ledger.image_url
WHERE ledger.status = 'success' OR NOT EXISTS (SELECT 1 FROM urls)
ORDER BY known_images.image_id
