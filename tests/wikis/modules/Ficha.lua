-- A box in Spanish: a title, a picture with the words under it, rows.
local p = {}

function p.ficha(frame)
	local args, rows = {}, {}
	local parent = frame:getParent()
	for key, value in pairs(parent and parent.args or {}) do args[key] = mw.text.trim(value) end
	for key, value in pairs(frame.args) do args[key] = mw.text.trim(value) end
	local function has(key) return args[key] and args[key] ~= '' end
	if has('titulo') then
		table.insert(rows, '<tr><th colspan="2" class="cabecera">' .. args.titulo .. '</th></tr>')
	end
	if has('imagen') then
		local link = '[[Archivo:' .. args.imagen .. '|260px' .. (has('alt') and '|alt=' .. args.alt or '') .. ']]'
		local foot = has('pie') and '<br />' .. args.pie or ''
		table.insert(rows, '<tr><td colspan="2" class="imagen">' .. link .. foot .. '</td></tr>')
	end
	for n = 1, 20 do
		if has('datos' .. n) then
			table.insert(rows, '<tr><th scope="row">' .. (args['etiqueta' .. n] or '') .. '</th><td>' .. args['datos' .. n] .. '</td></tr>')
		end
	end
	return '<table class="infobox">' .. table.concat(rows) .. '</table>'
end

return p
