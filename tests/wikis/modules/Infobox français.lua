-- The boxes of the French Wikipedia: fields of the page's call itself, by the names that all boxes share.
local p = {}

function p.build(frame)
	local args = frame:getParent().args
	local function has(key) return args[key] and mw.text.trim(args[key]) ~= '' end
	local rows = { '<div class="entete">' .. (has('nom') and args.nom or mw.title.getCurrentTitle().text) .. '</div>' }
	if has('image') then
		local size = has('taille image') and args['taille image'] or '220'
		local alt = has('alt') and '|alt=' .. mw.text.trim(args.alt) or ''
		table.insert(rows, '<div class="images">[[Fichier:' .. mw.text.trim(args.image) .. '|' .. size .. 'px' .. alt .. ']]</div>')
		if has('légende') then table.insert(rows, '<p class="legend">' .. mw.text.trim(args['légende']) .. '</p>') end
	end
	if has('activité') then
		table.insert(rows, '<table><tr><th>Activité</th><td>' .. args['activité'] .. '</td></tr></table>')
	end
	return '<div class="infobox_v3 infobox">' .. table.concat(rows) .. '</div>'
end

return p
