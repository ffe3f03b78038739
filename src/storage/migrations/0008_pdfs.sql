-- Up Migration
-- Printed forms that are kept: a DANFE since somebody asked for it, a DANFSe since its note was captured. The row goes with its document;
-- the object stands below the company's prefix.
create table pdfs (
  document_id     uuid primary key references documents (id) on delete cascade,
  status          text not null,                 -- pending: to be made in the background; done; failed: made when somebody asks, or never
  made_of         text,                          -- hash of all that the bytes depend on: XML, layout version, situation; null: none is kept yet
  object_key      text,
  sha256          text,                          -- of the PDF, hex
  attempts        integer not null default 0,    -- in the background, in vain
  next_attempt_at timestamptz(3),
  failure         text                           -- of the last attempt, a code
);
create index pdfs_due on pdfs (next_attempt_at) where status = 'pending';

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
