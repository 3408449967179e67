"""What `threadlore init` says."""

WHERE = """
Where is the documentation? Write for each release one of
  https://docs.example.org/2.0/        the address of its first page
  ../kettle/docs                       a folder on this machine
  manual.pdf                           a PDF
  https://git.example.org/kettle.git@v2.0:docs    a git repository, a tag or branch, and the folder in it
  kettle==2.0.1:docs                   a source distribution of the package index, and the folder in it
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
