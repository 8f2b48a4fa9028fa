-- A day in French, from its parts.
local p = {}

local function day(args)
	local number = args[1] == '1' and '1<sup>er</sup>' or args[1]
	local parts = {}
	for _, part in ipairs{ number or '', args[2] or '', args[3] or '' } do
		if part ~= '' then table.insert(parts, part) end
	end
	return '<time class="nowrap date-lien">' .. table.concat(parts, ' ') .. '</time>'
end

function p.modeleDate(frame) return day(frame:getParent().args) end

function p.dateNaissance(frame) return day(frame:getParent().args) end

return p
