"""What `threadlore init` says."""

WHERE = """
Where is the documentation? Write for each release one of
  https://docs.example.org/2.0/        the address of its first page
  ../kettle/docs                       a folder on this machine
  manual.pdf                           a PDF
  https://git.example.org/kettle.git@v2.0:docs    a git repository, a tag or branch, and the folder in it
  kettle==2.0.1:docs                   a source distribution of the package index, and the folder in it
"""
SLACK = """
Make the app now, in a browser (the file {manifest} has every scope, event and command):
  1. https://api.slack.com/apps, Create New App, From a manifest, choose the workspace, paste the file
  2. Install App, Install to Workspace: copy the Bot User OAuth Token (xoxb-…)
  3. Basic Information, App-Level Tokens, Generate, with the scope connections:write: copy it (xapp-…)
"""
DISCORD = """
Make the application now, in a browser:
  1. https://discord.com/developers/applications, New Application: copy its Application ID
"""
INVITE = """  2. Bot: switch on Message Content Intent; Reset Token, and copy the token
  3. Open this link and choose your server:
     {link}
"""
NEXT = """
Written into {folder}: {files}
Next:
  {go}threadlore doctor    looks at everything that is needed, and says what to do
  threadlore serve     reads the documentation and answers
{platforms}
Who can reach what, once it runs:
{exposed}
"""
