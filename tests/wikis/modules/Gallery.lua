-- Pictures in a row: a file, its caption, the next file and so on, alt1, alt2 ...
local p = {}

function p.gallery(frame)
	local args, items = frame:getParent().args, {}
	for n = 1, 40, 2 do
		local file = mw.text.trim(args[n] or '')
		if file ~= '' then
			file = file:gsub('^[^:]+:', '')
			local alt = args['alt' .. (n + 1) / 2]
			local link = '[[File:' .. file .. '|thumb|none|' .. (args.width or '180') .. 'px' .. (alt and '|alt=' .. alt or '') .. '|' .. (args[n + 1] or '') .. ']]'
			table.insert(items, '<li class="mod-gallery-item">' .. link .. '</li>')
		end
	end
	return '<div class="mod-gallery"><ul>' .. table.concat(items) .. '</ul></div>'
end

return p
