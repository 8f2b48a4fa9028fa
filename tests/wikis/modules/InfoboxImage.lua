-- The picture of a box: a bare name becomes a link to the file, a link stays as it is.
local p = {}

function p.InfoboxImage(frame)
	local args = frame.args
	local image = mw.text.trim(args.image or '')
	if image == '' then return '' end
	local first = mw.ustring.sub(image, 1, 1)
	if first == '[' or first == '<' or first == '{' or string.byte(first) == 127 then
		return image
	end
	local name = image
	local prefix, rest = mw.ustring.match(image, '^([^:|]+):(.*)$')
	local space = prefix and mw.site.namespaces[prefix]
	if space and space.id == 6 then name = rest end
	local parts = { 'File:' .. name }
	if args.size and args.size ~= '' then
		table.insert(parts, args.size:match('^%d+$') and args.size .. 'px' or args.size)
	else
		table.insert(parts, args.sizedefault or 'frameless')
	end
	for _, key in ipairs{ 'upright', 'alt' } do
		if args[key] and args[key] ~= '' then table.insert(parts, key .. '=' .. args[key]) end
	end
	if args.border == 'yes' then table.insert(parts, 'border') end
	if args.title and args.title ~= '' then table.insert(parts, args.title) end
	return '[[' .. table.concat(parts, '|') .. ']]'
end

return p
