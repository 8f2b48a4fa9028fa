-- The first argument that is not empty.
local p = {}

function p.main(frame)
	local args = frame:getParent().args
	for n = 1, 20 do
		local value = mw.text.trim(args[n] or '')
		if value ~= '' then return value end
	end
	return ''
end

return p
