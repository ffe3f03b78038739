-- Up Migration
-- Everybody who takes part in a document can be searched for, whatever the document type calls them (CT-e: sender, dispatcher, receiver,
-- taker; NFS-e: intermediary). The same folding as before.
create or replace function document_words(metadata jsonb, key text) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('simple'::regconfig, regexp_replace(
    translate(
      lower(coalesce(key, '')
        || ' ' || coalesce(metadata ->> 'number', '')
        || ' ' || coalesce(metadata #>> '{issuer,name}', '')
        || ' ' || coalesce(metadata #>> '{issuer,taxId}', '')
        || ' ' || coalesce(metadata #>> '{recipient,name}', '')
        || ' ' || coalesce(metadata #>> '{recipient,taxId}', '')
        || ' ' || coalesce(metadata #>> '{carrier,name}', '')
        || ' ' || coalesce(metadata #>> '{sender,name}', '')
        || ' ' || coalesce(metadata #>> '{sender,taxId}', '')
        || ' ' || coalesce(metadata #>> '{dispatcher,name}', '')
        || ' ' || coalesce(metadata #>> '{dispatcher,taxId}', '')
        || ' ' || coalesce(metadata #>> '{receiver,name}', '')
        || ' ' || coalesce(metadata #>> '{receiver,taxId}', '')
        || ' ' || coalesce(metadata #>> '{taker,name}', '')
        || ' ' || coalesce(metadata #>> '{taker,taxId}', '')
        || ' ' || coalesce(metadata #>> '{intermediary,name}', '')
        || ' ' || coalesce(metadata #>> '{intermediary,taxId}', '')),
      'áàâãäéèêëíìîïóòôõöúùûüçñ', 'aaaaaeeeeiiiiooooouuuucn'),
    '[^a-z0-9]+', ' ', 'g'));
reindex index documents_search;

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
