-- A box of rows: above, image1 with caption1, header2, label3 with data3 and so on.
local p = {}

local function given(frame)
	local parent = frame:getParent()
	local args = {}
	for _, source in ipairs{ parent and parent.args or {}, frame.args } do
		for key, value in pairs(source) do
			value = mw.text.trim(value)
			if value ~= '' then args[key] = value end
		end
	end
	return args
end

local function row(cell) return '<tr>' .. cell .. '</tr>' end

function p.infobox(frame)
	local args, rows = given(frame), {}
	if args.above or args.title then
		table.insert(rows, row('<th colspan="2" class="infobox-above">' .. (args.above or args.title) .. '</th>'))
	end
	for n = 0, 9 do
		local end_ = n == 0 and '' or n
		local image = args['image' .. end_]
		if image then
			local caption = args['caption' .. end_]
			caption = caption and '<div class="infobox-caption">' .. caption .. '</div>' or ''
			table.insert(rows, row('<td colspan="2" class="infobox-image">' .. image .. caption .. '</td>'))
		end
	end
	for n = 1, 40 do
		local header, label, data = args['header' .. n], args['label' .. n], args['data' .. n]
		if header then
			table.insert(rows, row('<th colspan="2" class="infobox-header">' .. header .. '</th>'))
		elseif data and label then
			local name = '<th scope="row" class="infobox-label">' .. label .. '</th>'
			table.insert(rows, row(name .. '<td class="infobox-data">' .. data .. '</td>'))
		elseif data then
			table.insert(rows, row('<td colspan="2" class="infobox-full-data">' .. data .. '</td>'))
		end
	end
	return '<table class="infobox ' .. (args.bodyclass or '') .. '">' .. table.concat(rows) .. '</table>'
end

p.infoboxTemplate = p.infobox
return p
