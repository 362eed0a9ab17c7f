"""The function behind API Gateway: a Bedrock agent, whose searches are started at its rationale."""

import os

import boto3
from botocore.config import Config
from langchain_aws import AmazonKnowledgeBasesRetriever

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.aws.bedrock import own_threads
from langgraph_prefetch.aws.bedrock_agents import BedrockAgent
from langgraph_prefetch.aws.lambda_handler import api_handler

SEARCH = os.environ.get("SEARCH_ACTION", "search")

# Made once for all requests that this instance serves. The read time-out is below the function's own.
CLIENT = boto3.client(
    "bedrock-agent-runtime", config=Config(read_timeout=25, retries={"total_max_attempts": 2, "mode": "standard"})
)
RETRIEVER = own_threads(
    AmazonKnowledgeBasesRetriever(
        knowledge_base_id=os.environ["KNOWLEDGE_BASE_ID"],
        retrieval_config={"vectorSearchConfiguration": {"numberOfResults": int(os.environ.get("RESULTS", "5"))}},
        min_score_confidence=None,
        client=CLIENT,
    )
)
PREFETCH = Prefetcher([SEARCH])
AGENT = BedrockAgent(
    CLIENT,
    PREFETCH.service_agent({SEARCH: RETRIEVER}),
    agent_id=os.environ["AGENT_ID"],
    agent_alias_id=os.environ["AGENT_ALIAS_ID"],
)

handler = api_handler(AGENT)
