-- A number with its unit.
local p = {}

function p.unite(frame)
	local args = frame:getParent().args
	local number = args[1]:gsub('^(%d+)(%d%d%d)$', '%1&nbsp;%2')
	return '<span class="nowrap">' .. number .. (args[2] and '&nbsp;' .. args[2] or '') .. '</span>'
end

return p
