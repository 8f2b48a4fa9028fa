<?php
// A maintenance script of MediaWiki: saves pages and pictures of a wiki, prints articles as Parsoid
// writes them. Standard input: {"pages": {title: wikitext}, "files": [path], "articles": [title]}.
require_once getenv( 'MEDIAWIKI' ) . '/maintenance/Maintenance.php';

use MediaWiki\MediaWikiServices;
use MediaWiki\Revision\SlotRecord;

class RenderWiki extends Maintenance {
	public function execute() {
		$services = MediaWikiServices::getInstance();
		$task = json_decode( stream_get_contents( STDIN ), true );
		$user = User::newSystemUser( 'Render', [ 'steal' => true ] );
		$local = $services->getRepoGroup()->getLocalRepo();
		foreach ( $task['files'] as $path ) {
			$file = $local->newFile( Title::makeTitleSafe( NS_FILE, basename( $path ) ) );
			$done = $file->upload( $path, '', '', 0, false, false, $user );
			if ( !$done->isOK() ) {
				$this->fatalError( "$path: " . $done->getWikiText() );
			}
		}
		foreach ( $task['pages'] as $name => $text ) {
			$title = Title::newFromText( $name );
			$page = $services->getWikiPageFactory()->newFromTitle( $title );
			$saved = $page->newPageUpdater( $user )
				->setContent( SlotRecord::MAIN, ContentHandler::makeContent( $text, $title ) );
			$saved->saveRevision( CommentStoreComment::newUnsavedComment( 'x' ) );
			if ( !$saved->getStatus()->isOK() ) {
				$this->fatalError( "$name: " . $saved->getStatus()->getWikiText() );
			}
		}
		DeferredUpdates::doUpdates();
		$html = [];
		foreach ( $task['articles'] as $name ) {
			$title = Title::newFromText( $name );
			$page = $services->getPageStore()->getPageByText( $name );
			$status = $services->getParsoidOutputAccess()
				->getParserOutput( $page, ParserOptions::newFromAnon() );
			if ( !$status->isOK() ) {
				$this->fatalError( "$name: " . $status->getWikiText() );
			}
			$html[$name] = $status->getValue()->getRawText();
		}
		echo json_encode( $html, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES );
	}
}

$maintClass = RenderWiki::class;
require_once RUN_MAINTENANCE_IF_MAIN;
