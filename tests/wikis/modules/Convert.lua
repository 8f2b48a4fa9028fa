-- A quantity in the unit that it is given in, and in brackets in another one.
local p = {}
local units = {
	km = { 'kilometres', 'mi', 0.621371 }, m = { 'metres', 'ft', 3.28084 }, ft = { 'feet', 'm', 0.3048 },
}

function p.convert(frame)
	local args = frame:getParent().args
	local value, unit = args[1], units[args[2]]
	local other = string.format('%.1f', tonumber(value) * unit[3])
	local name = args.abbr == 'on' and args[2] or unit[1]
	return value .. '&nbsp;' .. name .. ' (' .. other .. '&nbsp;' .. (args[3] or unit[2]) .. ')'
end

return p
