-- The first sentence of a life, and its picture.
local p = {}

function p.main(frame)
	local args = frame:getParent().args
	local function has(key) return args[key] and mw.text.trim(args[key]) ~= '' end
	local picture = ''
	if has('Immagine') then
		picture = '[[File:' .. args.Immagine .. '|thumb' .. (has('DimImmagine') and '|' .. args.DimImmagine .. 'px' or '') .. '|' .. (has('Didascalia') and args.Didascalia or args.Nome .. ' ' .. args.Cognome) .. ']]\n'
	end
	local born = args.LuogoNascita .. ', ' .. args.GiornoMeseNascita .. ' ' .. args.AnnoNascita
	local kind = args.Sesso == 'F' and 'è stata una ' or 'è stato un '
	return picture .. "'''" .. args.Nome .. ' ' .. args.Cognome .. "''' (" .. born .. ') ' .. kind .. mw.ustring.lower(args['Attività']) .. ' ' .. args['Nazionalità'] .. (args['PostNazionalità'] or '.')
end

return p
