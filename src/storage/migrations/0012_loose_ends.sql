-- Up Migration
-- Documents that came at or below the NSU that a host has taken already (recovered, decoded again): handed to it besides.
create table late_documents (
  document_id    uuid primary key references documents (id) on delete cascade,
  company_id     uuid not null,
  document_type  text not null,
  environment    text not null,
  nsu            bigint not null
);
create index late_documents_capture on late_documents (company_id, document_type, environment, nsu);

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
