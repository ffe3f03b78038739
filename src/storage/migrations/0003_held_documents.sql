-- Up Migration
-- Documents whose webhook waits for another document of their key, until an instant at which it is sent anyhow. Beside the documents,
-- because they are few and the documents are kept for years.
create table held_documents (
  document_id    uuid primary key references documents (id) on delete cascade,
  company_id     uuid not null,
  document_type  text not null,
  environment    text not null,
  key            text not null,
  release_at     timestamptz(3) not null
);
create index held_documents_key on held_documents (company_id, document_type, environment, key);
create index held_documents_due on held_documents (release_at);

-- warning; critical: documents may be missed until somebody acts.
alter table alerts add column severity text not null default 'warning';

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
