-- A value that the page gives, or else one of Wikidata, which is not asked here.
local p = {}

function p.formatLocal(frame)
	local args = frame.args
	if args[1]:lower() ~= 'p18' then return args[2] end
	local alt = args.alt ~= '' and '|alt=' .. args.alt or ''
	local link = '[[Файл:' .. args[2] .. '|' .. (args.size ~= '' and args.size or '274x400px') .. alt .. ']]'
	local caption = args.caption ~= '' and '<span class="media-caption" style="display:block">' .. args.caption .. '</span>' or ''
	return '<span class="no-wikidata" data-wikidata-property-id="P18">' .. link .. caption .. '</span>'
end

function p.formatProperty(frame) return '' end

return p
