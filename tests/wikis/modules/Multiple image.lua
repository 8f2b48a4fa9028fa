-- Several pictures in one frame: image1, alt1, caption1 and so on.
local p = {}

function p.render(frame)
	local args, boxes = frame:getParent().args, {}
	for n = 1, 10 do
		local image = mw.text.trim(args['image' .. n] or '')
		if image ~= '' then
			local alt = mw.text.trim(args['alt' .. n] or '')
			alt = alt ~= '' and '|alt=' .. alt or ''
			local caption = mw.text.trim(args['caption' .. n] or '')
			local width = mw.text.trim(args['width' .. n] or args.width or '150')
			local link = '[[File:' .. image .. '|' .. width .. 'px' .. alt .. ']]'
			local text = caption ~= '' and '<div class="thumbcaption">' .. caption .. '</div>' or ''
			table.insert(boxes, '<div class="tsingle" style="width:' .. (tonumber(width) + 2) .. 'px"><div class="thumbimage">' .. link .. '</div>' .. text .. '</div>')
		end
	end
	local footer = args.footer and '<div class="trow"><div class="thumbcaption">' .. args.footer .. '</div></div>' or ''
	return '<div class="thumb tmulti tright"><div class="thumbinner multiimageinner"><div class="trow">' .. table.concat(boxes) .. '</div>' .. footer .. '</div></div>'
end

return p
