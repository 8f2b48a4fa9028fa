-- Words of another language, alone or behind the language's name.
local p = {}
local names = {
	en = { ru = 'Russian', de = 'German', fr = 'French', ka = 'Georgian' },
	es = { fr = 'francés', en = 'inglés', ca = 'catalán' },
}

local function given(frame)
	local parent = frame:getParent()
	return (frame.args[1] or frame.args.code) and frame.args or parent and parent.args or {}
end

local function marked(code, text)
	return '<span lang="' .. code .. '">' .. text .. '</span>'
end

function p.lang(frame)
	local args = given(frame)
	local text = args[2] or args.text or args.texte or ''
	local code = args[1] or args.code or ''
	if args.italic == 'no' then return marked(code, text) end
	return '<i lang="' .. code .. '">' .. text .. '</i>'
end

function p.langx(frame)
	local args = given(frame)
	local code, text = args[1] or args.code, args[2] or args.text or ''
	local shown = marked(code, text)
	if args.label == 'none' then return shown end
	local own = names[mw.language.getContentLanguage():getCode()] or names.en
	return (own[code] or code) .. ': ' .. shown
end

function p.transl(frame)
	local args = given(frame)
	return '<i lang="' .. args[1] .. '-Latn">' .. (args[3] or args[2]) .. '</i>'
end

return p
