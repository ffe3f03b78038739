-- Up Migration
-- Exports: documents of a period in one ZIP, written part by part by a workflow. Imports: files from elsewhere, worked off in steps.

create table exports (
  id             uuid primary key,
  company_id     uuid not null references companies (id) on delete cascade,
  document_type  text not null,
  environment    text not null,
  from_at        timestamptz(3) not null,        -- inclusive
  to_at          timestamptz(3) not null,        -- exclusive
  pdf            boolean not null,
  status         text not null default 'pending', -- pending, running, done, failed, cancelled, expired
  error          text,
  as_of          timestamptz(3) not null,        -- documents captured later are not in it
  total          integer,                        -- documents to write, counted at the beginning
  documents      integer not null default 0,     -- in the parts written so far, as everything below
  xml_files      integer not null default 0,
  pdf_files      integer not null default 0,
  problems       integer not null default 0,     -- documents that could not be read, or not be printed
  object_key     text,
  size           bigint,
  sha256         text,
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  finished_at    timestamptz(3),
  expires_at     timestamptz(3)                  -- when what the object store holds of it is deleted
);
create index exports_listed on exports (created_at desc, id desc);
create index exports_company on exports (company_id, created_at desc, id desc);
create index exports_open on exports (updated_at) where status in ('pending', 'running');
create index exports_expiring on exports (expires_at) where expires_at is not null;

-- What is written of an export that runs. A row is written with its part, or there is none.
create table export_parts (
  export_id      uuid not null references exports (id) on delete cascade,
  number         integer not null,
  object_key     text not null,                  -- of the ZIP; its rows of the index and of the problems stand beside it
  problems       integer not null,
  last_undated   boolean not null,               -- where the next part begins: after this document
  last_at        timestamptz(3) not null,
  last_id        uuid not null,
  primary key (export_id, number)
);

create table imports (
  id             uuid primary key,
  company_id     uuid not null references companies (id) on delete cascade,
  environment    text not null,                  -- of documents that do not say theirs
  notify         boolean not null,
  file_name      text,
  object_key     text not null,                  -- the upload, until the import ends
  size           bigint not null,
  sha256         text not null,
  format         text not null,                  -- zip, xml
  status         text not null default 'pending', -- pending, running, done, failed
  error          text,
  total          integer,                        -- files, counted at the beginning
  next_entry     integer not null default 0,     -- the entry of the ZIP that comes next; behind the last one: those that wait
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  finished_at    timestamptz(3)
);
create index imports_listed on imports (created_at desc, id desc);
create index imports_company on imports (company_id, created_at desc, id desc);
create index imports_open on imports (updated_at) where status in ('pending', 'running');

-- What became of each file.
create table import_files (
  import_id      uuid not null references imports (id) on delete cascade,
  entry          integer not null,               -- its place in the ZIP
  name           text not null,
  result         text not null,                  -- imported, already_there, not_a_document, not_of_company, unreadable; waiting: for the rest of the ZIP
  reason         text,
  document_id    uuid,
  primary key (import_id, entry)
);
create index import_files_result on import_files (import_id, result, entry);

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
